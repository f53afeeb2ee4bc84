import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { unreachableProblem } from './api-problem.ts'

const retryDelay_ms = 500
const maxAttempts = 8
/** A page that has just been loaded knows the names of its parts: to load it again would turn in circles. */
const freshPage_ms = 5_000

/**
 * Loads a part of the dashboard when it is asked for. A network that changes meanwhile fails the request, which is sent again. When
 * the platform answers and the part is not there, an upgrade has given it another name, which a reload of the page learns.
 */
export async function loadWithRetry<Part>(load: () => Promise<Part>, { wait = waitForRetry, reload = reloadIfAnswered } = {}): Promise<Part> {
  const isFreshPage = performance.now() < freshPage_ms
  for (let failures = 1; ; failures++) {
    try {
      return await load()
    } catch (error) {
      if (failures === maxAttempts) throw unreachableProblem(error)
      if (failures > 1 && !isFreshPage) await reload()
      await wait(retryDelay_ms * failures)
    }
  }
}

/** A component that is loaded when it is first drawn. */
export function lazyWithRetry<Props>(load: () => Promise<{ default: ComponentType<Props> }>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() => loadWithRetry(load))
}

/** Ends at once when the browser is online again. */
function waitForRetry(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      window.removeEventListener('online', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    window.addEventListener('online', end)
  })
}

/** Without an answer the page stays: a reload would leave the browser’s own error page. */
async function reloadIfAnswered(): Promise<void> {
  await fetch(location.href).then(
    () => location.reload(),
    () => undefined,
  )
}
