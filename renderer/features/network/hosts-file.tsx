import { useSettings, useUpdateSettings } from '../../api/instance.ts'
import { useHostsFile } from '../../api/network.ts'
import { toApiError } from '../../lib/api-error.ts'
import { CopyButton } from '../../components/copy.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SwitchField } from '../../components/field.tsx'
import { type StatusBadgeData, StatusText } from '../../components/status.tsx'
import styles from './page.module.css'

const inSyncBadge: StatusBadgeData = { label: 'In sync', shape: 'disc', tone: 'live' }
const outOfSyncBadge: StatusBadgeData = { label: 'Out of sync', shape: 'ring', tone: 'busy' }
const offBadge: StatusBadgeData = { label: 'Off', shape: 'dash', tone: 'idle' }

/** Hosts file entries, for programs that do not resolve `*.localhost`. */
export function HostsFile() {
  const { data, error, isPending, refetch } = useHostsFile()
  const { data: settings } = useSettings()
  const change = useUpdateSettings()
  const isEnabled = change.isPending ? (change.variables.body.hosts_file ?? false) : (settings?.hosts_file ?? false)
  return (
    <section className="card" aria-labelledby="hosts-file">
      <header className="card-header">
        <h2 id="hosts-file">Hosts file</h2>
        {data && <StatusText badge={!isEnabled ? offBadge : data.in_sync ? inSyncBadge : outOfSyncBadge} />}
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {isPending && <SkeletonRows rows={2} height={56} />}
      {data && (
        <div className="card-body stack">
          <SwitchField
            label="Keep the hosts file in sync"
            hint="Chrome, Edge and Firefox resolve local names on their own. Safari and many other programs need entries in the hosts file. Other lines are never changed, and turning this off removes the entries."
            checked={isEnabled}
            disabled={!settings}
            onChange={(hosts_file) => change.mutate({ body: { hosts_file } })}
          />
          {isEnabled && !data.writable && data.command && !data.in_sync && (
            <div className="stack">
              <p>
                Homeport is not allowed to write <span className="mono">{data.path}</span>. Run this once in a terminal:
              </p>
              <p className="command">
                <code>{data.command}</code>
                <CopyButton text={data.command} label="Copy command" />
              </p>
            </div>
          )}
          <details className="disclosure">
            <summary>
              Entries for <span className="mono">{data.path}</span>
            </summary>
            <pre className={styles.hostsBlock} tabIndex={0} aria-label="Hosts file entries">
              {data.block}
            </pre>
          </details>
        </div>
      )}
    </section>
  )
}
