import { Download, RefreshCw, RotateCw } from 'lucide-react'
import type { UpdateState, UpdateStep } from '../../../preload/bridge.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Progress } from '../../ui/progress.tsx'
import { Ago } from '../../ui/time.tsx'

const act = (step: UpdateStep) => () => void window.homeport?.updateDesktop(step)

/** How the update stands, and what can be done about it now. */
export function UpdateView({ update }: { update: UpdateState }) {
  if (update.name === 'off')
    return (
      <div className="desktop-row">
        <p className="quiet">{update.why}</p>
        {update.page !== undefined && <ButtonLink href={update.page}>Look for new versions</ButtonLink>}
      </div>
    )
  if (update.name === 'downloading')
    return <Progress label={`Downloading Homeport ${update.version}`} value={update.percent / 100} text={`${update.percent} %`} />
  return (
    <div className="desktop-row">
      <p role={update.name === 'failed' ? 'alert' : 'status'} className={update.name === 'failed' ? 'field-error' : undefined}>
        <Words update={update} />
      </p>
      {update.name === 'available' ? (
        <Button kind="primary" icon={Download} onClick={act('download')}>
          Download
        </Button>
      ) : update.name === 'ready' ? (
        <Button kind="primary" icon={RotateCw} onClick={act('restart')}>
          Restart to update
        </Button>
      ) : (
        <Button icon={RefreshCw} busy={update.name === 'checking'} onClick={act('check')}>
          Check now
        </Button>
      )}
    </div>
  )
}

function Words({ update }: { update: Exclude<UpdateState, { name: 'off' | 'downloading' }> }) {
  if (update.name === 'checking') return 'Looking for a new version.'
  if (update.name === 'available') return `Homeport ${update.version} is there.`
  if (update.name === 'ready') return `Homeport ${update.version} is downloaded. What runs is ended in order first; containers go on.`
  if (update.name === 'failed') return update.message
  if (update.checked_at === null) return 'Homeport looks for new versions once a day.'
  return (
    <>
      This is the newest version, as of <Ago at={update.checked_at} />.
    </>
  )
}
