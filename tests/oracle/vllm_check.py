"""The other side of tests/oracle/vllm.
	vllm_check.py prompts URL	answered records in: are their prompt ids what the server makes?
	vllm_check.py sets DIR MODEL	the sets of hidden states, against transformers"""
import json
import sys

import infer


def prompts(url):
    bad = 0
    for line in sys.stdin:
        r = json.loads(line)
        for g in r["generations"]:
            want = infer.post(url + "/tokenize", {"model": "smol", "messages": r["messages"][:g["message"]],
                                                  "add_generation_prompt": True})["tokens"]
            if want != g["prompt_token_ids"] or len(g["output_ids"]) != g["completion_tokens"]:
                print(f"# {r['id']}, message {g['message']}: {g['prompt_token_ids']} for {want}")
                bad += 1
    return bad != 0


def lines(path):
    with open(path) as f:
        return [json.loads(x) for x in f]


class Reference:
    """bf16 on the same processor: other kernels, so equal but for rounding."""

    def __init__(self, folder):
        import torch
        from transformers import AutoModelForCausalLM

        self.torch = torch
        torch.set_num_threads(1)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval()
        self.model.model.norm.register_forward_pre_hook(lambda m, a: setattr(self, "before", a[0]))

    def states(self, ids, layers=(2, 15, 27)):
        with self.torch.no_grad():
            h = self.model.model(self.torch.tensor([ids]), output_hidden_states=True).hidden_states
        return self.torch.cat([h[k][0] for k in layers], 1), self.before[0], h[-1][0]


def far(a, b):
    """The distance of each row, relative to it. Rounding in bf16 puts most at one or two hundredths
    here, and a few, of odd ids, at tenths."""
    a, b = a.float(), b.float()
    return ((a - b).norm(dim=1) / b.norm(dim=1)).tolist()


def sets(folder, model_folder):
    import torch
    from safetensors.torch import load_file

    ref = Reference(model_folder)
    recs = lines(folder + "/tok")
    want = [ref.states(r["input_ids"]) for r in recs]
    neighbours = [ref.states(r["input_ids"], (3, 16, 28))[0] for r in recs]
    rows = {}
    wrong = 0

    def hold(what, got, w):
        nonlocal wrong
        rows.setdefault(what, []).extend(far(got, w) if got.shape == w.shape else [9.0])
        wrong += got.dtype != torch.bfloat16 or got.shape != w.shape

    for layout in ("seed", "specforge", "speculators"):
        index = {x["id"]: x for x in lines(f"{folder}/{layout}.idx")}
        wrong += sorted(index) != sorted(r["id"] for r in recs)
        for r, (aux, before, after), beside in zip(recs, want, neighbours):
            path = f"{folder}/{layout}/{index[r['id']]['file']}"
            if layout == "speculators":
                d = load_file(path)
                wrong += d["token_ids"].tolist() != r["input_ids"]
                hold("speculators aux", d["hidden_states"][:, :3].flatten(1), aux)
                hold("speculators last, before the norm", d["hidden_states"][:, 3], before)
                continue
            d = torch.load(path, weights_only=True)
            wrong += d["input_ids"].tolist() != r["input_ids"] or d["loss_mask"].tolist() != r["loss_mask"]
            if layout == "seed":
                hold("seed aux", d["hidden_states"], aux)
                hold("a layer too far", d["hidden_states"], beside)
                hold("seed last, before the norm", d["last_hidden_states"], before)
            else:
                hold("specforge aux", d["aux_hidden_state"][0], aux)
                hold("specforge last, normed by e3-extract", d["hidden_state"][0], after)
    middle = {what: sorted(x)[len(x) // 2] for what, x in rows.items()}
    for what, m in middle.items():
        print(f"# {what}: {100 * m:.1f} % off in the middle, {100 * max(rows[what]):.1f} % at most")
    beside = middle.pop("a layer too far")
    return wrong != 0 or max(middle.values()) > 0.03 or beside < 0.1


if __name__ == "__main__":
    what, *args = sys.argv[1:]
    sys.exit({"prompts": prompts, "sets": sets}[what](*args))
