"""Reads what tensor_write wrote with torch, safetensors, numpy and zipfile. TAP on stdout."""

import sys
import zipfile

import numpy as np
import safetensors.numpy
import safetensors.torch
import torch

folder, big = sys.argv[1], len(sys.argv) > 2
n = 21 if big else 0


def ok(what, good):
    global n
    n += 1
    print(f"{'ok' if good else 'not ok'} {n} - {what}")


S, K, H = 5, 4, 6
raw = bytes(i * 7 % 256 for i in range(S * K * H * 2))
states = torch.frombuffer(bytearray(raw), dtype=torch.bfloat16).reshape(S, K, H)
bits = states.view(torch.int16)
ids = torch.tensor([0, 1, 163585, 7, 5000000000])


def same(a, b):
    return a.dtype == torch.bfloat16 and torch.equal(a.view(torch.int16), b)


def aligned(path):
    with open(path, "rb") as f, zipfile.ZipFile(path) as z:
        for i in z.infolist():
            f.seek(i.header_offset + 26)
            name, extra = (int.from_bytes(f.read(2), "little") for _ in range(2))
            if (i.header_offset + 30 + name + extra) % 64 or i.compress_type != 0:
                return False
        return z.testzip() is None


if big:
    path = folder + "/big.pt"
    row = torch.from_numpy((np.arange(1 << 20) * 31 >> 3).astype(np.uint8))
    for mmap in True, False:
        d = torch.load(path, weights_only=True, mmap=mmap)
        ok(f"over 4 GiB, mmap={mmap}", d["big"].shape == (4200, 1 << 20)
           and torch.equal(d["big"][-1], row) and torch.equal(d["ids"], ids))
        del d
    with zipfile.ZipFile(path) as z:
        ok("over 4 GiB: zipfile checks the CRC", z.testzip() is None)
    sys.exit()

for mmap in True, False:
    d = torch.load(folder + "/dict.pt", weights_only=True, mmap=mmap)
    good = (list(d) == ["input_ids", "aux", "last", "mask", "empty", "scalar", "id", "big", "yes"]
            and d["input_ids"].dtype == torch.int64 and torch.equal(d["input_ids"], ids)
            and same(d["aux"], bits[:, :3].reshape(S, 3 * H)) and same(d["last"], bits[:, 3])
            and d["mask"].tolist() == [True, False, True] and d["empty"].shape == (0, 4)
            and d["scalar"].shape == () and int(d["scalar"]) == 163585 and d["id"] == "a/\u00e9"
            and d["big"] == -5000000000 and d["yes"] is True)
    ok(f"torch.load of a dict, mmap={mmap}", good)
    ok(f"torch.load of a tensor, mmap={mmap}",
       torch.equal(torch.load(folder + "/bare.pt", weights_only=True, mmap=mmap), ids))
    ok(f"torch.load of counts, mmap={mmap}",
       torch.load(folder + "/counts.pt", weights_only=True, mmap=mmap) == {0: 255, 1: 256, 70000: 5000000000})
for name in "dict.pt", "bare.pt", "counts.pt":
    ok(f"{name}: stored, aligned to 64, right CRCs", aligned(f"{folder}/{name}"))

d = safetensors.torch.load_file(folder + "/a.safetensors")
ok("safetensors.torch", same(d["aux"], bits[:, :3].reshape(S, 3 * H)) and same(d["last"], bits[:, 3])
   and torch.equal(d["input_ids"], ids) and d["empty"].shape == (0, 4))
with safetensors.safe_open(folder + "/a.safetensors", "np") as f:
    ok("safetensors.numpy", np.array_equal(f.get_tensor("input_ids"), ids.numpy()))

a = np.load(folder + "/ids.npy")
ok("numpy: int64", a.dtype == np.int64 and np.array_equal(a, ids.numpy()))
a = np.load(folder + "/mask.npy")
ok("numpy: bool", a.dtype == np.bool_ and a.tolist() == [True, False, True])
ok("numpy: empty", np.load(folder + "/empty.npy").shape == (0, 4))
