import { helpTopics } from '../../../server/contract/help.ts'
import type { ExaminedCheck } from '../../../server/contract/instance.ts'
import type { Client } from '../../api/client.ts'
import type { Notice } from './store.ts'

/** How often a window asks how its instance is. What is quickly told alone: it costs a few milliseconds. */
const lookAgain_ms = 5 * 60_000
const firstLook_ms = 5_000

/** Looks at the instance from time to time, for its owner, as long as somebody looks at the window. */
export function watchHealth(client: Client, told: readonly Notice[], tell: (notice: Notice) => void): () => void {
  const stopped = new AbortController()
  const hear = createHealthListener(tell, Date.now, told)
  const look = () => {
    if (document.visibilityState !== 'visible') return
    client.call('doctor', { query: { quick: 'true' }, signal: stopped.signal }).then(
      ({ checks }) => hear(Array.isArray(checks) ? checks : []),
      () => undefined,
    )
  }
  const first = setTimeout(look, firstLook_ms)
  const timer = setInterval(look, lookAgain_ms)
  stopped.signal.addEventListener('abort', () => {
    clearTimeout(first)
    clearInterval(timer)
  })
  return () => stopped.abort()
}

/** Tells what went wrong since the last look, or since `told` before the page was loaded; what was fixed and went wrong again is told again. */
export function createHealthListener(
  tell: (notice: Notice) => void,
  now: () => number,
  told: readonly Pick<Notice, 'id'>[] = [],
): (checks: ExaminedCheck[]) => void {
  // An id is name, status and time.
  let wrong = new Set(told.map(({ id }) => id.slice(0, id.lastIndexOf(' '))))
  return (checks) => {
    const before = wrong
    wrong = new Set()
    for (const check of checks) {
      const words = wordsOf(check)
      if (!words) continue
      const name = `${check.name} ${check.status}`
      wrong.add(name)
      if (before.has(name)) continue
      tell({
        id: `${name} ${now()}`,
        kind: 'failed',
        title: words.title,
        text: check.message,
        ...(check.mend ? { todo: check.mend } : {}),
        ...(words.is_quiet ? { is_quiet: true } : {}),
        path: words.path ?? (check.help && helpTopics.includes(check.help) ? `/help/${check.help}` : '/instance'),
        at: new Date(now()).toISOString(),
      })
    }
  }
}

interface Words {
  title: string
  path?: string
  is_quiet?: boolean
}

/** Undefined: nothing that has to be told. What stands as it is since the start, and needs nobody at once, is told quietly. */
function wordsOf({ name, status }: ExaminedCheck): Words | undefined {
  if (status === 'ok') return undefined
  if (name === 'disk') return { title: status === 'failed' ? 'The disk is full' : 'The disk is nearly full', path: '/instance/disk' }
  if (name === 'backups') return { title: status === 'failed' ? 'A backup failed' : 'The data was put back from a copy', path: '/instance/backups' }
  if (name === 'sandbox') return { title: 'Builds and apps are not confined', path: '/instance', is_quiet: true }
  if (name === 'apps') return { title: 'Apps are open to your network', path: '/instance' }
  if (name.startsWith('databases')) return { title: 'The server of the databases does not run' }
  if (name === 'port edge') return { title: 'The apps are at another port', is_quiet: true }
  if (name.startsWith('port')) return { title: 'The dashboard is at another port', is_quiet: true }
  if (name === 'encryption') return { title: 'Secrets are sealed with a key in a file', is_quiet: true }
  return undefined
}
