import { loadQuickChecks } from '../../api/instance.ts'
import { helpTopics } from '../../../server/contract/help.ts'
import type { DoctorCheckWithHelp } from '../../../server/contract/instance.ts'
import type { ApiClient } from '../../api/api-client.ts'
import type { DashboardNotification } from './store.ts'

/** Polling interval of the health checks. Only fast checks run, which take a few milliseconds. */
const checkInterval_ms = 5 * 60_000
const firstCheckDelay_ms = 5_000

/** Polls the instance's health for its owner while the window is visible. */
export function startHealthMonitor(
  client: ApiClient,
  existing: readonly DashboardNotification[],
  notify: (notice: DashboardNotification) => void,
): () => void {
  const controller = new AbortController()
  const handleChecks = createHealthNotifier(notify, Date.now, existing)
  const runChecks = () => {
    if (document.visibilityState !== 'visible') return
    loadQuickChecks(client, controller.signal).then(handleChecks, () => undefined)
  }
  const first = setTimeout(runChecks, firstCheckDelay_ms)
  const timer = setInterval(runChecks, checkInterval_ms)
  controller.signal.addEventListener('abort', () => {
    clearTimeout(first)
    clearInterval(timer)
  })
  return () => controller.abort()
}

/**
 * Reports problems that are new since the last check, or since the `existing` ones from before a reload. A problem that was fixed and returned is reported
 * again.
 */
export function createHealthNotifier(
  notify: (notice: DashboardNotification) => void,
  now: () => number,
  existing: readonly Pick<DashboardNotification, 'id'>[] = [],
): (checks: DoctorCheckWithHelp[]) => void {
  // The id consists of name, status and time.
  let failing = new Set(existing.map(({ id }) => id.slice(0, id.lastIndexOf(' '))))
  return (checks) => {
    const previous = failing
    failing = new Set()
    for (const check of checks) {
      const text = describeCheck(check)
      if (!text) continue
      const name = `${check.name} ${check.status}`
      failing.add(name)
      if (previous.has(name)) continue
      notify({
        id: `${name} ${now()}`,
        kind: 'failed',
        title: text.title,
        text: check.message,
        ...(check.hint ? { todo: check.hint } : {}),
        ...(text.is_quiet ? { is_quiet: true } : {}),
        path: text.path ?? (check.help && helpTopics.includes(check.help) ? `/help/${check.help}` : '/instance'),
        at: new Date(now()).toISOString(),
      })
    }
  }
}

interface NotificationText {
  title: string
  path?: string
  is_quiet?: boolean
}

/** Undefined for checks without a notification. Permanent states that need no action are quiet. */
function describeCheck({ name, status }: DoctorCheckWithHelp): NotificationText | undefined {
  if (status === 'ok') return undefined
  if (name === 'disk') return { title: status === 'failed' ? 'The disk is full' : 'The disk is nearly full', path: '/instance/disk' }
  if (name === 'backups') return { title: status === 'failed' ? 'A backup failed' : 'The data was restored from a copy', path: '/instance/backups' }
  if (name === 'sandbox') return { title: 'Builds and apps are not sandboxed', path: '/instance', is_quiet: true }
  if (name === 'apps') return { title: 'Apps are open to your network', path: '/instance' }
  if (name.startsWith('databases')) return { title: 'The database server is not running' }
  if (name === 'port edge') return { title: 'Apps use a different port', is_quiet: true }
  if (name.startsWith('port')) return { title: 'The dashboard uses a different port', is_quiet: true }
  if (name === 'encryption') return { title: 'The encryption key is stored in a file', is_quiet: true }
  return undefined
}
