"""Other clients to compare e3-infer with, on the same records and the same server.
	infer_others.py aiohttp|openai|specforge URL CONCURRENCY <records >answers
aiohttp: a plain asynchronous loop. openai: the SDK in threads, which is what SpecForge's own script for
regeneration builds on (the script is not in its package). specforge: the package's own request to a
server, specforge.benchmarks.sglang, in threads as that module runs it; it gives no ids."""
import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace


async def by_aiohttp(url, at_once, records):
    import aiohttp
    gate = asyncio.Semaphore(at_once)
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout()) as s:
        async with s.get(url + "/v1/models") as r:
            model = (await r.json())["data"][0]["id"]

        async def one(record):
            async with gate:
                body = {"model": model, "messages": record["messages"], "max_tokens": 400,
                        "return_token_ids": True}
                async with s.post(url + "/v1/chat/completions", json=body) as r:
                    record["answer"] = await r.json()
            print(json.dumps(record))
        await asyncio.gather(*[one(r) for r in records])


def by_openai(url, record, client=[]):
    if not client:
        import openai
        client.append(openai.OpenAI(base_url=url + "/v1", api_key="none", timeout=600))
    answer = client[0].chat.completions.create(
        model="any", messages=record["messages"], max_tokens=400,
        extra_body={"return_token_ids": True})
    return answer.model_dump()


def by_specforge(url, record):
    from specforge.benchmarks.sglang import _send_sglang
    return _send_sglang(SimpleNamespace(base_url=url, temperature=1.0, top_p=1.0, top_k=1,
                                        max_new_tokens=400, timeout_seconds=600),
                        record["messages"][0]["content"])


def main(kind, url, at_once):
    records = (json.loads(line) for line in sys.stdin)
    if kind == "aiohttp":
        asyncio.run(by_aiohttp(url, at_once, records))
        return
    send = {"openai": by_openai, "specforge": by_specforge}[kind]

    def one(record):
        record["answer"] = send(url, record)
        return json.dumps(record)
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        for line in pool.map(one, records):
            print(line)


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
