import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { unreachable } from '../api/problem.ts'

const pause_ms = 500
const attempts = 8
/** A page that has just been loaded knows the names of its parts: to load it again would turn in circles. */
const young_ms = 5_000

/**
 * Loads a part of the dashboard when it is asked for. A network that changes meanwhile fails the request, which is sent again. When
 * the platform answers and the part is not there, an upgrade has given it another name, which a reload of the page learns.
 */
export async function loadPart<Part>(load: () => Promise<Part>, { wait = pause, reload = reloadIfAnswered } = {}): Promise<Part> {
  const isYoung = performance.now() < young_ms
  for (let failures = 1; ; failures++) {
    try {
      return await load()
    } catch (error) {
      if (failures === attempts) throw unreachable(error)
      if (failures > 1 && !isYoung) await reload()
      await wait(pause_ms * failures)
    }
  }
}

/** A component that is loaded when it is first drawn. */
export function lazyPart<Props>(load: () => Promise<{ default: ComponentType<Props> }>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() => loadPart(load))
}

/** Ends at once when the browser is online again. */
function pause(ms: number): Promise<void> {
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
