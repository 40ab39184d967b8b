"""What tests/oracle/sglang.sh needs of Python, by its first argument:

reads        SGLang's source has what the plug-in's hooks touch
writer DIR   the writer refuses what it should and leaves nothing behind
records      tokenised records
serve        SmolLM2 behind SGLang's /generate, its batches cut by SGLang's own code and our hooks
compare      the sets in this folder, against transformers
"""

import ast
import importlib.util
import json
import os
import random
import resource
import sys
import threading
import types

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../pipelines/sglang"))

SGLANG = os.path.dirname(importlib.util.find_spec("sglang").origin)
torch.set_num_threads(1)  # threads that wait for each other crawl beside any other process
LAYERS = (2, 15, 27)
NUMBER = {"reads": 0, "writer": 6, "compare": 14}


def ok(what, good):
    NUMBER[sys.argv[1]] += 1
    print(f"{'ok' if good else 'not ok'} {NUMBER[sys.argv[1]]} - {what}", flush=True)


# ---- SGLang's source ----


def source(path):
    with open(os.path.join(SGLANG, path)) as f:
        return ast.parse(f.read())


def find(tree, name):
    return next((n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name), None)


def names(function):
    a = function.args
    return [x.arg for x in a.args], [x.arg for x in a.kwonlyargs]


def fields(tree, name):
    return {n.target.id for n in find(tree, name).body if isinstance(n, ast.AnnAssign)}


def processor():
    return source("srt/managers/scheduler_components/batch_result_processor.py")


def reads():
    append = find(processor(), "_append_prefill_hidden_states")
    ok("_append_prefill_hidden_states takes what the hook passes on", names(append) == (
        ["self"], ["req", "logits_output", "hidden_state_offset", "capture_hidden_mode", "extend_input_len", "store"]))
    utils = find(source("srt/managers/utils.py"), "GenerationBatchResult")
    ok("copy_to_cpu takes what the hook takes, and the copies are awaited", names(find(utils, "copy_to_cpu")) == (
        ["self", "return_logprob", "return_hidden_states"], [])
       and "copy_done.synchronize" in ast.unparse(find(processor(), "process_batch_result_prefill"))
       and find(source("srt/utils/common.py"), "async_d2h") is not None)
    logits = source("srt/layers/logits_processor.py")
    ok("the last layer's states are kept, after the norm, for all tokens",
       {"hidden_states", "last_hidden_states"} <= fields(logits, "LogitsProcessorOutput")
       and "aux_hidden_state_capture" in ast.unparse(find(logits, "LogitsProcessor")))
    flags = ast.unparse(source("srt/arg_groups/fields/exec_.py"))
    ok("the flags of the README are there",
       all(f in flags for f in ("enable_return_aux_hidden_states", "return_aux_hidden_state_layer_ids")))
    abort = find(find(source("srt/managers/schedule_batch.py"), "FINISH_ABORT"), "__init__")
    ok("an abort has message, status and type", names(abort)[0] == ["self", "message", "status_code", "err_type"])
    llama = ast.unparse(source("srt/models/llama.py"))
    ok("a layer's input is captured at its number", "if i in self.layers_to_capture" in llama
       and "val + 1 for val in layer_ids" in llama)


# ---- the writer alone ----


def writer(folder):
    from e3_dump.writer import Refused, write

    aux, last = torch.ones(4, 12, dtype=torch.bfloat16), torch.ones(4, 4, dtype=torch.bfloat16)
    good = dict(rid="a-1", input_ids=[1, 2, 3, 4], aux=aux, last=last, layers=[2, 3, 4], norm="after")

    def refuses(**change):
        try:
            write(folder, **{**good, **change})
        except Refused:
            return os.listdir(folder) == []
        return False

    ok("a request id that is no file's name is refused",
       all(refuses(rid=r) for r in ("", "../a", "a/b", ".a", "a b", "a\n", "x" * 201)))
    ok("fewer rows than ids are refused", refuses(aux=aux[1:]) and refuses(last=last[1:])
       and refuses(input_ids=[1, 2, 3, 4, 5]))
    ok("a width that is not that of the layers is refused", refuses(layers=[2, 3]) and refuses(aux=last))
    ok("two types of float, or none, are refused", refuses(last=last.half()) and refuses(
        aux=aux.long(), last=last.long()))
    ok("layers that do not ascend are refused", refuses(layers=[3, 2, 4]) and refuses(layers=[2, 2, 4]))
    write(folder, **good)
    ok("a good one is there under its name, and nothing else", os.listdir(folder) == ["a-1.safetensors"])
    os.unlink(folder + "/a-1.safetensors")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        write(folder, **good)
        failed = False
    except OSError:
        failed = True
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    ok("a disk's error is an error, and leaves nothing", failed and os.listdir(folder) == [])


# ---- a real model ----


def records():
    r = random.Random(3)
    for i in range(14):
        k = r.choice((2, 5, 40, 120, 300))
        ids = [r.randrange(300, 40000) for _ in range(k)]
        print(json.dumps({"id": f"d/{i}", "input_ids": ids, "loss_mask": [0] + [1] * (k - 1), "seq_len": k}))


def real_model():
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained("model", dtype=torch.bfloat16).eval()


@torch.no_grad()
def real_states(model, ids):
    h = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    return torch.cat([h[k][0] for k in LAYERS], 1), h[-1][0]


def stub(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module
    parent, _, leaf = name.rpartition(".")
    if parent:
        setattr(sys.modules.get(parent) or stub(parent, __path__=[]), leaf, module)
    return module


def set_up():
    """SGLang's processor with the method that cuts the batch, from its source; its plug-in loader;
    around them what the hooks import."""
    method = find(processor(), "_append_prefill_hidden_states")
    for a in method.args.args + method.args.kwonlyargs:
        a.annotation = None
    method.returns = None
    scope = {}
    exec(compile(ast.Module([method], []), "sglang", "exec"), scope)
    result = type("GenerationBatchResult", (), {"copy_to_cpu": lambda self, return_logprob, return_hidden_states=True:
                                                setattr(self, "copied", True)})
    abort = type("FINISH_ABORT", (), {"__init__": lambda self, *a: setattr(self, "args", a)})
    made = type("SchedulerBatchResultProcessor", (), {method.name: scope[method.name]})
    srt = "sglang.srt."
    stub(srt + "managers.scheduler_components.batch_result_processor", SchedulerBatchResultProcessor=made)
    stub(srt + "managers.utils", GenerationBatchResult=result)
    stub(srt + "managers.schedule_batch", FINISH_ABORT=abort)
    stub(srt + "utils.common", async_d2h=lambda t: t.clone())
    stub(srt + "runtime_context", get_parallel=lambda: types.SimpleNamespace(attn_tp_rank=0, attn_cp_rank=0))
    stub(srt + "plugins", __path__=[SGLANG + "/srt/plugins"])

    from e3_dump import hooks
    from sglang.srt.plugins.hook_registry import HookRegistry

    hooks.register()
    HookRegistry.apply_hooks()
    return made, result


def batch(made, result, model, requests):
    """One prefill of several requests, as SGLang runs it: one after the other along the rows."""
    states = [real_states(model, q["input_ids"]) for q in requests]
    out = types.SimpleNamespace(hidden_states=torch.cat([a for a, _ in states]),
                                last_hidden_states=torch.cat([b for _, b in states]))
    graph = out.last_hidden_states
    r = result()
    r.logits_output = out
    r.copy_to_cpu(False, True)
    graph.zero_()  # the next replay writes over it
    p = made()
    # as the model has them after --return-aux-hidden-state-layer-ids
    model.layers_to_capture = list(LAYERS)
    p.model_worker = types.SimpleNamespace(model_runner=types.SimpleNamespace(model=model))
    mode = types.SimpleNamespace(is_full=lambda: True, is_last=lambda: False)
    at, reqs = 0, []
    for q in requests:
        reqs.append(types.SimpleNamespace(
            rid=q["rid"], origin_input_ids=q["input_ids"], return_hidden_states=q.get("return_hidden_states", False),
            hidden_states=[], to_finish=None,
            sampling_params=types.SimpleNamespace(max_new_tokens=q["sampling_params"]["max_new_tokens"])))
        at = p._append_prefill_hidden_states(
            req=reqs[-1], logits_output=out, hidden_state_offset=at, capture_hidden_mode=mode,
            extend_input_len=len(q["input_ids"]), store=True)
    assert at == len(out.hidden_states) and r.copied
    return reqs


def serve():
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    made, result = set_up()
    model = real_model()
    waiting, more = [], threading.Condition()

    def schedule():
        while True:
            with more:
                more.wait_for(lambda: waiting)
                taken = waiting[:]
                waiting.clear()
            # a neighbour that wants no states takes rows too
            plain = {"rid": "plain", "input_ids": [7, 8, 9], "sampling_params": {"max_new_tokens": 1}}
            reqs = batch(made, result, model, [plain] + [q for q, _ in taken])
            for req, (q, done) in zip(reqs[1:], taken):
                q["finish"] = req.to_finish
                done.set()

    class Handler(BaseHTTPRequestHandler):
        def reply(self, body, status=200):
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):
            if self.path == "/server_info":
                self.reply({"model_path": "smollm2", "version": "0.5.23", "speculative_algorithm": None,
                            "disable_radix_cache": True, "chunked_prefill_size": -1})
            else:
                self.reply({"data": [{"id": "smollm2", "root": "smollm2", "owned_by": "sglang"}]})

        def do_POST(self):
            q = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            done = threading.Event()
            with more:
                waiting.append((q, done))
                more.notify()
            done.wait()
            if q["finish"]:
                return self.reply({"error": {"message": q["finish"].args[0]}}, 500)
            self.reply({"text": "x", "output_ids": [5], "prompt_token_ids": q["input_ids"], "meta_info": {
                "id": q["rid"], "finish_reason": {"type": "length", "length": 1},
                "prompt_tokens": len(q["input_ids"]), "completion_tokens": 1}})

        def log_message(self, *args):
            pass

    threading.Thread(target=schedule, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


def lines(path):
    with open(path) as f:
        return [json.loads(x) for x in f]


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b)


def compare():
    model = real_model()
    recs = lines("in")
    want = [real_states(model, r["input_ids"]) for r in recs]
    keys = {"seed": ("hidden_states", "last_hidden_states"), "specforge": ("aux_hidden_state", "hidden_state"),
            "modelopt": ("aux_hidden_states", "hidden_states")}
    for layout, (aux_key, last_key) in keys.items():
        index = lines(layout + ".idx")
        good = [x["id"] for x in index] == [r["id"] for r in recs]
        for x, r, (aux, last) in zip(index, recs, want):
            d = torch.load(f"{layout}/{x['file']}", weights_only=True)
            good &= d["input_ids"].tolist() == r["input_ids"]
            good &= same(d[aux_key].reshape(-1, aux.shape[1]), aux) and same(d[last_key].reshape(-1, 576), last)
        said = json.load(open(layout + "/manifest.json"))
        good &= (said["layers"], said["layer_ids"], said["norm"]) == (list(LAYERS), "in", "after")
        ok(f"a real model's states, in batches, through the plug-in: {layout}", good)
    ok("speculators wants the state before the norm, and is refused", "before" in open("refused").read()
       and not os.path.exists("speculators.idx"))
    ok("the dump directory is empty", os.listdir("hs") == [])
    print(f"1..{NUMBER['compare']}")


if __name__ == "__main__":
    {"reads": reads, "writer": lambda: writer(sys.argv[2]), "records": records, "serve": serve,
     "compare": compare}[sys.argv[1]]()
