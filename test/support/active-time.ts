const step_ms = 20

/**
 * Milliseconds that some work took, without the time during which the machine was suspended or stalled. Stalls are detected by a timer of this
 * process that fires late.
 */
export async function measureActiveTime(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  let paused_ms = 0
  let last = begun
  const tick = () => {
    const now = performance.now()
    paused_ms += Math.max(0, now - last - 2 * step_ms)
    last = now
  }
  const timer = setInterval(tick, step_ms)
  try {
    await work()
    tick()
    return last - begun - paused_ms
  } finally {
    clearInterval(timer)
  }
}
