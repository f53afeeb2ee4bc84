/**
 * Set-up of every suite: a number that was not there yet is 0, and to a signal 0 means my own process group, -1 everybody. Such a
 * signal would end the run without a word of why.
 */
const kill = process.kill.bind(process)
process.kill = (pid, signal) => {
  if (pid === 0 || pid === -1) throw new RangeError(`${signal ?? 'SIGTERM'} to ${pid} would end this run; which process was meant?`)
  return kill(pid, signal)
}
