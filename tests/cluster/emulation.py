"""Commands below emulated hosts, and OpenMPI among them."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NOT_POSSIBLE = 77
DELAY_US = 200
SEND_ONLY = "--mca btl_tcp_flags 1"  # messages are sent, not fetched


class Emulation:
    """`programs` has what cluster_programs builds; what is left behind goes to `folder`."""

    def __init__(self, programs, folder):
        self.programs, self.folder, self.program = programs, folder, programs / "emulated_cluster"

    def output(self, hosts, rate, script, seconds):
        """What a shell script writes that runs below emulated hosts. Ends the run by exit 0 where the machine does not
        allow them."""
        command = [self.program, str(hosts), str(rate), str(DELAY_US), "bash", "-c", script]
        environment = dict(os.environ, HEADROOM_CLUSTER_PROGRAM=str(self.program), TMPDIR=str(self.folder / "tmp"))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            sys.exit(f"cluster: {hosts} hosts at {rate / 1e6:g} Mbit/s: no end after {seconds} s: a busy machine, or a program that hangs")
        except BaseException:
            process.kill()  # all that it started goes with it
            process.communicate()
            raise
        if process.returncode == NOT_POSSIBLE:
            print(f"cluster: not run: {err.strip().splitlines()[-1]}")
            sys.exit(0)
        if process.returncode != 0:
            sys.exit(f"cluster: {hosts} hosts at {rate / 1e6:g} Mbit/s: exit {process.returncode}: {err.strip()[-2000:]}")
        return out

    def mpirun(self, ranks, flags):
        """The words of a shell before the program: one rank on each of so many hosts, over TCP, waiting asleep."""
        names = ",".join(f"10.77.0.{host}:1" for host in range(1, ranks + 1))
        return (f'"{self.program}" on 1 mpirun --allow-run-as-root --oversubscribe --bind-to none -np {ranks} --host {names} '
                f'--mca plm_rsh_agent "{HERE}/mpi_agent.sh" --mca pml ob1 --mca btl tcp,self --mca mpi_yield_when_idle 1 '
                f'-x LD_PRELOAD="{self.programs}/libyield_sleeps.so" --mca btl_tcp_if_include 10.77.0.0/24 '
                f'--mca oob_tcp_if_include 10.77.0.0/24 {flags} ')
