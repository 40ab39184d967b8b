"""Runs a client once and prints what it cost.
	infer_measure.py URL AT_ONCE REQUESTS INPUT OUTPUT COMMAND...
user and sys: CPU of the client's process (and its children), microseconds a request of the whole run;
MB: the most it held; busy: the share of AT_ONCE slots that were taken while all were wanted, by the
server's own account, from the second wave to the last but one."""
import json
import resource
import subprocess
import sys
import time
import urllib.request


def look(url):
    with urllib.request.urlopen(url + "/metrics") as r:
        lines = [x.split() for x in r.read().decode().splitlines() if x.startswith("e3sim:")]
    return {name.split("{")[0][6:]: int(v) for name, v in lines}


def main(url, at_once, requests, source, target, command):
    at_once, requests = int(at_once), int(requests)
    before, begin = look(url), time.time()
    looks = []
    with open(source) as i, open(target, "w") as o, open("err", "w") as e:
        p = subprocess.Popen(command, stdin=i, stdout=o, stderr=e)
        while p.poll() is None:
            m = look(url)
            sent = m["requests_total"] - before["requests_total"]
            if 2 * at_once <= sent <= requests - at_once:
                looks.append(m)
            time.sleep(0.05)
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = None
    if len(looks) > 1:
        a, b = looks[0], looks[-1]
        busy = 100 * (b["slot_microseconds_total"] - a["slot_microseconds_total"]) / at_once \
            / (b["uptime_microseconds"] - a["uptime_microseconds"])
    print(json.dumps({"rc": p.returncode, "user": u.ru_utime * 1e6, "sys": u.ru_stime * 1e6,
                      "mb": u.ru_maxrss / 1024, "busy": busy, "wall": time.time() - begin,
                      "peak": look(url)["running_peak"]}))


main(*sys.argv[1:6], sys.argv[6:])
