import { problemFrom } from '../../api/problem.ts'
import { useHostsFile, useSettings } from '../../api/queries.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { SwitchField } from '../../ui/field.tsx'
import { type Sign, StatusWord } from '../../ui/status.tsx'
import { useChangeSettings } from '../instance/change-settings.ts'

const inSync: Sign = { word: 'In step', shape: 'disc', tone: 'live' }
const outOfSync: Sign = { word: 'Not in step', shape: 'ring', tone: 'busy' }
const off: Sign = { word: 'Left alone', shape: 'dash', tone: 'idle' }

/** Lines in the hosts file, for programs that do not find `*.localhost` by themselves. */
export function HostsFile() {
  const { data, error, isPending, refetch } = useHostsFile()
  const { data: settings } = useSettings()
  const change = useChangeSettings()
  const isOn = change.isPending ? (change.variables.body.hosts_file ?? false) : (settings?.hosts_file ?? false)
  return (
    <section className="card" aria-labelledby="hosts-file">
      <header className="card-head">
        <h2 id="hosts-file">Names for every program</h2>
        {data && <StatusWord sign={!isOn ? off : data.in_sync ? inSync : outOfSync} />}
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {isPending && <SkeletonRows rows={2} height={56} />}
      {data && (
        <div className="card-body stack">
          <SwitchField
            label="Keep the hosts file in step"
            hint="Chrome, Edge and Firefox find the local names by themselves. Safari and many other programs do not: lines in the hosts file help them. Nothing else in it is touched, and switching this off takes them out again."
            checked={isOn}
            disabled={!settings}
            onChange={(hosts_file) => change.mutate({ body: { hosts_file } })}
          />
          {isOn && !data.writable && data.command && !data.in_sync && (
            <div className="stack">
              <p>
                Homeport may not write <span className="mono">{data.path}</span>. Run this once in a terminal:
              </p>
              <p className="command">
                <code>{data.command}</code>
                <CopyButton text={data.command} label="Copy the command" />
              </p>
            </div>
          )}
          <details className="look-more">
            <summary>
              The lines for <span className="mono">{data.path}</span>
            </summary>
            <pre className="hosts-block" tabIndex={0} aria-label="Lines for the hosts file">
              {data.block}
            </pre>
          </details>
        </div>
      )}
    </section>
  )
}
