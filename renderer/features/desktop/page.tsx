import { FolderOpen, MonitorX } from 'lucide-react'
import { localInstanceId } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, SkeletonRows } from '../../components/feedback.tsx'
import { SwitchField } from '../../components/field.tsx'
import { useTitle } from '../../lib/use-title.ts'
import { InstanceHeader } from '../instance/index.ts'
import { useDesktopState } from './use-desktop-state.ts'
import { UpdateView } from './update-view.tsx'
import styles from './page.module.css'

/** Desktop settings. Available only while this machine is the current instance. */
export default function DesktopPage() {
  useTitle('Desktop')
  const isHome = useConnection((state) => state.current.id) === localInstanceId
  return (
    <div className="page">
      <InstanceHeader />
      {window.homeport && isHome ? (
        <DesktopSettings />
      ) : (
        <div className="card">
          <EmptyState icon={MonitorX} title="Only in the desktop app">
            This page is open in a browser or shows another instance. Open the Homeport app on the machine itself and go to Instance, Desktop.
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
        <div className={`card-body ${styles.desktopSwitches}`}>
          <SwitchField
            label="Open at login"
            hint={
              desktop.opens_at_login === null
                ? 'Not supported on this system.'
                : desktop.keeps_running === null
                  ? 'Homeport opens its window when you sign in to this machine.'
                  : `Homeport starts in the ${tray} when you sign in to this machine, so your apps are available.`
            }
            checked={desktop.opens_at_login ?? false}
            disabled={desktop.opens_at_login === null}
            onChange={(opens_at_login) => change({ opens_at_login })}
          />
          <SwitchField
            label="Keep running when the window closes"
            hint={
              desktop.keeps_running === null
                ? 'Not available, because this desktop has no tray: Homeport quits when its window closes. On GNOME, install the AppIndicator extension to get a tray.'
                : `Your apps stay reachable and Homeport stays in the ${tray} until you quit it.`
            }
            checked={desktop.keeps_running ?? false}
            disabled={desktop.keeps_running === null}
            onChange={(keeps_running) => change({ keeps_running })}
          />
          <SwitchField
            label="Notifications"
            hint="When a deployment finishes while you are in another app."
            checked={desktop.notifies}
            onChange={(notifies) => change({ notifies })}
          />
        </div>
      </section>
      <section className="card" aria-labelledby="updates">
        <header className="card-header">
          <h2 id="updates">Updates</h2>
          <span className="text-subtle">Homeport {window.homeport?.version}</span>
        </header>
        <div className="card-body stack">
          <UpdateView update={desktop.update} />
          <SwitchField
            label="Download updates automatically"
            hint="Otherwise Homeport asks first. It restarts only when you choose to."
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
        <div className={`card-body ${styles.desktopRow}`}>
          <p className="text-muted">Desktop logs and crash reports. They stay on this machine.</p>
          <Button icon={FolderOpen} onClick={() => void window.homeport?.showLogs()}>
            Show logs
          </Button>
        </div>
      </section>
    </>
  )
}
