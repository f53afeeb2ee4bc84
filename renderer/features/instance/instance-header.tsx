import { Link, useLocation } from 'wouter'
import { isClusterRuntime } from '../../../server/contract/runtimes.ts'
import { useInstanceSession } from '../../api/instance.ts'
import { localInstanceId } from '../../lib/instance-path.ts'
import { useScrollToCurrent } from '../../lib/use-scroll-to-current.ts'
import { useConnection } from '../../stores/connection.ts'

const tabs = [
  { path: '/instance', text: 'Overview' },
  { path: '/instance/settings', text: 'Settings' },
  { path: '/instance/network', text: 'Network' },
  { path: '/instance/disk', text: 'Disk' },
  { path: '/instance/backups', text: 'Backups' },
] as const
const nodesTab = { path: '/instance/nodes', text: 'Nodes' } as const
const desktopTab = { path: '/instance/desktop', text: 'Desktop' } as const

/** Title and tabs of the instance pages. Only the owner sees tabs. */
export function InstanceHeader() {
  const session = useInstanceSession().data
  const [location] = useLocation()
  const links = useScrollToCurrent(`${location} ${session !== undefined}`)
  const isHome = useConnection((state) => state.current.id) === localInstanceId
  const isCluster = isClusterRuntime(session?.instance.runtime.name)
  return (
    <header className="project-head">
      <div className="page-header">
        <h1>Instance</h1>
        {session && <p className="text-muted">Homeport {session.instance.version}</p>}
      </div>
      {/* Reserves the tabs' space until the user's role is known. */}
      {session === undefined && (
        <div className="tabs" aria-hidden>
          <span className="tab">{'\u00a0'}</span>
        </div>
      )}
      {session?.user.is_instance_owner && (
        <nav className="tabs" aria-label="Instance" ref={links}>
          {[...tabs, ...(isCluster ? [nodesTab] : []), ...(window.homeport && isHome ? [desktopTab] : [])].map(({ path, text }) => (
            <Link key={path} href={path} className="tab" aria-current={location === path ? 'page' : undefined}>
              {text}
            </Link>
          ))}
        </nav>
      )}
    </header>
  )
}
