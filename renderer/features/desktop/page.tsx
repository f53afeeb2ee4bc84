import { FolderOpen, MonitorX } from 'lucide-react'
import { localInstanceId } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, SkeletonRows } from '../../components/feedback.tsx'
import { SwitchField } from '../../components/field.tsx'
import { useTitle } from '../layout/use-title.ts'
import { InstanceHeader } from '../instance/instance-header.tsx'
import { useDesktopState } from './use-desktop-state.ts'
import { UpdateView } from './update-view.tsx'
import './page.css'

/** How the desktop behaves around the dashboard. It is this machine's, so it is there with this machine in front alone. */
export default function DesktopPage() {
  useTitle('Desktop')
  const isHome = useConnection((state) => state.current.id) === localInstanceId
  return (
    <div className="page instance">
      <InstanceHeader />
      {window.homeport && isHome ? (
        <DesktopSettings />
      ) : (
        <div className="card">
          <EmptyState icon={MonitorX} title="These settings are in the desktop app">
            This page is open in a browser, or shows another instance. Open the Homeport window on the machine itself, and go to Instance, Desktop.
          </EmptyState>
        </div>
      )}
    </div>
  )
}

function DesktopSettings() {
  const { desktop, changeDesktop: change } = useDesktopState()
  const isMac = window.homeport?.platform === 'darwin'
  const tray = isMac ? 'menu bar' : 'tray'
  if (!desktop) return <SkeletonRows rows={5} height={64} />
  return (
    <>
      <section className="card" aria-labelledby="behaviour">
        <header className="card-header">
          <h2 id="behaviour">Desktop</h2>
        </header>
        <div className="card-body desktop-switches">
          <SwitchField
            label="Open at login"
            hint={
              desktop.opens_at_login === null
                ? 'This system does not offer it.'
                : desktop.keeps_running === null
                  ? 'Homeport opens its window when you sign in to this machine.'
                  : `Homeport starts in the ${tray} when you sign in to this machine, so that your apps are there.`
            }
            checked={desktop.opens_at_login ?? false}
            disabled={desktop.opens_at_login === null}
            onChange={(opens_at_login) => change({ opens_at_login })}
          />
          <SwitchField
            label="Keep running when the window closes"
            hint={
              desktop.keeps_running === null
                ? 'This desktop shows no tray, so Homeport could not be found again: it ends with its window. On GNOME the extension AppIndicator brings a tray.'
                : `Your apps stay reachable, and Homeport stays in the ${tray}. Quit ends it.`
            }
            checked={desktop.keeps_running ?? false}
            disabled={desktop.keeps_running === null}
            onChange={(keeps_running) => change({ keeps_running })}
          />
          <SwitchField
            label="Notifications"
            hint="When a deployment ends while you look at something else."
            checked={desktop.notifies}
            onChange={(notifies) => change({ notifies })}
          />
        </div>
      </section>
      <section className="card" aria-labelledby="updates">
        <header className="card-header">
          <h2 id="updates">Updates</h2>
          <span className="text-subtle">This is Homeport {window.homeport?.version}</span>
        </header>
        <div className="card-body stack">
          <UpdateView update={desktop.update} />
          <SwitchField
            label="Download new versions by itself"
            hint="Otherwise Homeport asks first. Either way it restarts when you say so."
            checked={desktop.downloads_updates}
            disabled={desktop.update.name === 'off'}
            onChange={(downloads_updates) => change({ downloads_updates })}
          />
        </div>
      </section>
      <section className="card" aria-labelledby="logs">
        <header className="card-header">
          <h2 id="logs">Logs</h2>
        </header>
        <div className="card-body desktop-row">
          <p className="text-muted">What the desktop noted, and reports of crashes. They stay on this machine.</p>
          <Button icon={FolderOpen} onClick={() => void window.homeport?.showLogs()}>
            Show logs
          </Button>
        </div>
      </section>
    </>
  )
}
