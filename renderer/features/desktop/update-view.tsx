import { Download, RefreshCw, RotateCw } from 'lucide-react'
import type { UpdateState, UpdateAction } from '../../../preload/bridge.ts'
import { Button, ButtonLink } from '../../components/button.tsx'
import { Progress } from '../../components/progress.tsx'
import { RelativeTime } from '../../components/time.tsx'
import styles from './page.module.css'

const runUpdateAction = (action: UpdateAction) => () => void window.homeport?.updateDesktop(action)

/** Update status and its available action. */
export function UpdateView({ update }: { update: UpdateState }) {
  if (update.name === 'off')
    return (
      <div className={styles.desktopRow}>
        <p className="text-muted">{update.reason}</p>
        {update.page !== undefined && <ButtonLink href={update.page}>Check for updates</ButtonLink>}
      </div>
    )
  if (update.name === 'downloading')
    return <Progress label={`Downloading Homeport ${update.version}`} value={update.percent / 100} text={`${update.percent} %`} />
  return (
    <div className={styles.desktopRow}>
      <p role={update.name === 'failed' ? 'alert' : 'status'} className={update.name === 'failed' ? 'field-error' : undefined}>
        <UpdateMessage update={update} />
      </p>
      {update.name === 'available' ? (
        <Button kind="primary" icon={Download} onClick={runUpdateAction('download')}>
          Download
        </Button>
      ) : update.name === 'ready' ? (
        <Button kind="primary" icon={RotateCw} onClick={runUpdateAction('restart')}>
          Restart to update
        </Button>
      ) : (
        <Button icon={RefreshCw} busy={update.name === 'checking'} onClick={runUpdateAction('check')}>
          Check now
        </Button>
      )}
    </div>
  )
}

function UpdateMessage({ update }: { update: Exclude<UpdateState, { name: 'off' | 'downloading' }> }) {
  if (update.name === 'checking') return 'Checking for updates…'
  if (update.name === 'available') return `Homeport ${update.version} is available.`
  if (update.name === 'ready')
    return `Homeport ${update.version} is ready to install. Processes are stopped gracefully before the restart; containers keep running.`
  if (update.name === 'failed') return update.message
  if (update.checked_at === null) return 'Homeport checks for updates once a day.'
  return (
    <>
      Up to date. Last checked <RelativeTime at={update.checked_at} />.
    </>
  )
}
