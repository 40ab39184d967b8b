"""One request's hidden states as the file that e3-extract takes (e3-extract(1), sglang-dump).

Knows nothing of SGLang.

    write(folder, rid, input_ids, aux, last, layers, norm)

Raises Refused when the states can't be what was asked for, with a sentence for the client; OSError
when the disk is at fault. Either way nothing is left in the folder.
"""

import os
import re

import torch
from safetensors.torch import save_file

FLOATS = (torch.bfloat16, torch.float16, torch.float32)


class Refused(ValueError):
    pass


def check(rid, ids, aux, last, layers):
    # the id becomes a file's name, and comes from whoever can reach the server
    if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", rid):
        raise Refused(f"a dump needs a request id of letters, digits, '.', '_' and '-', not {rid!r}")
    rows = len(ids)
    for name, t in (("aux", aux), ("last", last)):
        if t.ndim != 2 or t.shape[0] != rows:
            raise Refused(f"{rows} ids, but {name} states of shape {list(t.shape)}: every prompt has to be "
                          "prefilled whole, with --disable-radix-cache --chunked-prefill-size -1")
    if aux.shape[1] != len(layers) * last.shape[1]:
        raise Refused(f"{aux.shape[1]} values a token for {len(layers)} layers of {last.shape[1]}")
    if aux.dtype != last.dtype or aux.dtype not in FLOATS:
        raise Refused(f"states of {aux.dtype} and {last.dtype}")
    if list(layers) != sorted(set(layers)):
        raise Refused(f"layers {list(layers)} are not ascending")


def write(folder, rid, input_ids, aux, last, layers, norm):
    """aux [tokens, layers * hidden], last [tokens, hidden], both on the host; layers as what enters
    them ("in"), ascending; norm "before" or "after" of last."""
    check(rid, input_ids, aux, last, layers)
    part = os.path.join(folder, f".{rid}.part")
    tensors = {
        "input_ids": torch.tensor(input_ids, dtype=torch.int64),
        "aux_hidden_states": aux.contiguous(),
        "last_hidden_states": last.contiguous(),
    }
    said = {"layers": ",".join(map(str, layers)), "convention": "in", "norm": norm, "rid": rid}
    try:
        save_file(tensors, part, said)
        os.rename(part, os.path.join(folder, f"{rid}.safetensors"))
    except BaseException as e:
        if os.path.exists(part):
            os.unlink(part)
        # a full disk arrives as an error of safetensors' own
        raise e if isinstance(e, (OSError, KeyboardInterrupt, SystemExit)) else OSError(str(e)) from e
