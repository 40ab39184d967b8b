"""Where SGLang has the states: two hooks by its own plug-in interface (sglang.srt.plugins).

SGLang's --enable-return-aux-hidden-states makes the target capture its aux layers without a draft
model, and keeps the last layer's states, after the final norm, for consumers inside the process.
What is left to do:

- The result of a forward pass is copied to the host behind it on the same stream, but not the last
  layer's states, and the next replay of a CUDA graph writes over them: copy_last has them copied
  at the same place, before the event that the reader waits for.
- When a prefill's result is handed out, each request's rows are cut from the batch by the number of
  tokens that ran: dump writes them to a file instead of making lists of numbers for the reply.

The reply is sent after that, so the file is there when the client hears of it. All ranks run the
same code up to the write; only the first of a group that computes the same attention writes.
"""

import os

from . import writer

PROCESSOR = "sglang.srt.managers.scheduler_components.batch_result_processor.SchedulerBatchResultProcessor"
RESULT = "sglang.srt.managers.utils.GenerationBatchResult"


def captured_layers(model):
    """The layers whose input is captured, as the model itself has them: what the server's option
    means differs by model (most add one to the ids given), this does not."""
    for m in model.modules():
        layers = getattr(m, "layers_to_capture", None)
        if layers:
            return sorted(layers)
    raise writer.Refused("no aux layers are captured: start the server with "
                         "--enable-return-aux-hidden-states --speculative-algorithm EAGLE3")


def may_write():
    from sglang.srt.runtime_context import get_parallel

    p = get_parallel()
    return p.attn_tp_rank == 0 and p.attn_cp_rank == 0


def abort(req, message):
    """On all ranks alike: a dump request makes one token, so each ends with this step anyway."""
    from http import HTTPStatus

    from sglang.srt.managers.schedule_batch import FINISH_ABORT

    req.to_finish = FINISH_ABORT(message, HTTPStatus.INTERNAL_SERVER_ERROR, "InternalServerError")


def states_of(processor, req, output, start, rows):
    """What the writer wants, of one request."""
    if req.sampling_params.max_new_tokens != 1:
        raise writer.Refused("a dump request must ask for one new token (max_new_tokens 1)")
    if output.last_hidden_states is None:
        raise writer.Refused("the last layer's states are not kept: start the server with "
                             "--enable-return-aux-hidden-states")
    layers = captured_layers(processor.model_worker.model_runner.model)
    # a cached or chunked prompt shows as fewer rows than ids
    aux = output.hidden_states[start:start + rows].cpu()
    last = output.last_hidden_states[start:start + rows].cpu()
    return list(req.origin_input_ids), aux, last, layers


def make_dump(folder):
    def dump(original, self, *, req, logits_output, hidden_state_offset, capture_hidden_mode,
             extend_input_len, store=True):
        if not (store and req.return_hidden_states is True and capture_hidden_mode.is_full()):
            return original(self, req=req, logits_output=logits_output,
                            hidden_state_offset=hidden_state_offset, capture_hidden_mode=capture_hidden_mode,
                            extend_input_len=extend_input_len, store=store)
        try:
            states = states_of(self, req, logits_output, hidden_state_offset, extend_input_len)
            writer.check(req.rid, *states)
            if may_write():
                writer.write(folder, req.rid, *states, norm="after")
        except (writer.Refused, OSError) as e:
            abort(req, f"e3-dump: {e}")
        return hidden_state_offset + extend_input_len
    return dump


def copy_last(self, return_logprob, return_hidden_states=True):
    from sglang.srt.utils.common import async_d2h

    output = self.logits_output
    if return_hidden_states and output is not None and output.last_hidden_states is not None:
        output.last_hidden_states = async_d2h(output.last_hidden_states)


def register():
    """SGLang calls this in each of its processes. Without E3_DUMP_DIR it changes nothing."""
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    folder = os.environ.get("E3_DUMP_DIR")
    if not folder:
        return
    os.makedirs(folder, exist_ok=True)
    HookRegistry.register(PROCESSOR + "._append_prefill_hidden_states", make_dump(folder), HookType.AROUND)
    HookRegistry.register(RESULT + ".copy_to_cpu", copy_last, HookType.BEFORE)
