import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { unreachableError } from './api-error.ts'

const retryDelay_ms = 500
const maxAttempts = 8
/** A freshly loaded page has current chunk names, so reloading it again would loop. */
const freshPage_ms = 5_000

/**
 * Loads a chunk of the dashboard on demand. A failed request is retried, because the network may have changed. If the platform responds but the
 * chunk is missing, an upgrade renamed it, and the page is reloaded.
 */
export async function loadWithRetry<Part>(load: () => Promise<Part>, { wait = waitForRetry, reload = reloadIfAnswered } = {}): Promise<Part> {
  const isFreshPage = performance.now() < freshPage_ms
  for (let failures = 1; ; failures++) {
    try {
      return await load()
    } catch (error) {
      if (failures === maxAttempts) throw unreachableError(error)
      if (failures > 1 && !isFreshPage) await reload()
      await wait(retryDelay_ms * failures)
    }
  }
}

/** A component that is loaded on first render. */
export function lazyWithRetry<Props>(load: () => Promise<{ default: ComponentType<Props> }>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() => loadWithRetry(load))
}

/** Resolves early when the browser is online again. */
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

/** Without a response the page stays, because a reload would show the browser’s error page. */
async function reloadIfAnswered(): Promise<void> {
  await fetch(location.href).then(
    () => location.reload(),
    () => undefined,
  )
}
