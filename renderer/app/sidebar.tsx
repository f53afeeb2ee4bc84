import { Anchor, CircleHelp, Globe, History, LogOut, Monitor, Moon, Plus, ScrollText, Search, Ship, Sun, UserRound } from 'lucide-react'
import { useMemo } from 'react'
import { Link, useRoute } from 'wouter'
import { useSignOut } from '../api/sign-in.ts'
import { useInstanceSession, useSettings } from '../api/instance.ts'
import { useProjects } from '../api/projects.ts'
import { useHomeSession } from '../api/remotes.ts'
import { useDeploymentSummary } from '../api/deployment-summaries.ts'
import { useCapabilities } from '../api/capabilities.ts'
import type { Project } from '../../server/contract/projects.ts'
import { useConnection } from '../stores/connection.ts'
import { localInstanceId } from '../lib/instance-path.ts'
import { type Theme, useUi } from '../stores/ui.ts'
import { IconButton } from '../components/button.tsx'
import { Menu, MenuRadioGroup, MenuItem, MenuSeparator } from '../components/menu.tsx'
import { formatAgo } from '../lib/format.ts'
import { useNow } from '../lib/use-now.ts'
import { StatusIcon, projectBadge } from '../components/status.tsx'
import { keycapsFor } from '../lib/key-chords.ts'
import { NotificationBell } from '../features/notifications/notification-bell.tsx'
import { InstanceSwitcher } from './instance-switcher.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import './sidebar.css'

const maxRecentProjects = 8

export function Sidebar({ open }: { open: boolean }) {
  const setPaletteOpen = useUi((state) => state.setPaletteOpen)
  const capabilities = useCapabilities()
  return (
    <nav className={`sidebar ${open ? 'sidebar-open' : ''}`} aria-label="Main">
      <ErrorBoundary fallback={null}>
        <InstanceSwitcher />
      </ErrorBoundary>
      <button type="button" className="sidebar-search" onClick={() => setPaletteOpen(true)}>
        <Search size={15} aria-hidden />
        <span>Search or run…</span>
        <kbd>{keycapsFor('mod+k').flat().join(' ')}</kbd>
      </button>
      <ul className="sidebar-list">
        <SidebarLink href="/" icon={<Ship size={16} aria-hidden />} text="Projects" />
        <SidebarLink href="/domains" icon={<Globe size={16} aria-hidden />} text="Domains" />
        {capabilities.has_instance_api && <SidebarLink href="/logs" icon={<ScrollText size={16} aria-hidden />} text="Logs" />}
        {capabilities.has_instance_api && <SidebarLink href="/activity" icon={<History size={16} aria-hidden />} text="Activity" />}
        {capabilities.has_instance_api && (
          <SidebarLink exact={false} href="/instance" icon={<Anchor size={16} aria-hidden />} text="Instance" note={<NetworkOpenNote />} />
        )}
        <SidebarLink href="/account" icon={<UserRound size={16} aria-hidden />} text="Account" />
      </ul>
      <ErrorBoundary fallback={<div className="sidebar-recent" />}>
        <RecentProjects />
      </ErrorBoundary>
      <ul className="sidebar-list">
        <SidebarLink exact={false} href="/help" icon={<CircleHelp size={16} aria-hidden />} text="Help" />
      </ul>
      <SidebarFooter />
    </nav>
  )
}

interface SidebarLinkProps {
  href: string
  icon: React.ReactNode
  text: string
  /** Text at the end of the link. */
  note?: React.ReactNode
  exact?: boolean
}

function SidebarLink({ href, icon, text, note, exact = true }: SidebarLinkProps) {
  const [active] = useRoute(exact ? href : `${href}/*?`)
  return (
    <li>
      <Link href={href} className="sidebar-link" aria-current={active ? 'page' : undefined}>
        {icon}
        <span className="truncate">{text}</span>
        {note}
      </Link>
    </li>
  )
}

/** The most recently changed projects. */
function RecentProjects() {
  const { data } = useProjects()
  const setNewProjectOpen = useUi((state) => state.setNewProjectOpen)
  const projects = useMemo(() => {
    // A linear scan instead of a sort, because ten thousand projects may be loaded and every change runs this.
    const recent: Project[] = []
    for (const page of data?.pages ?? [])
      for (const project of page.projects) {
        const last = recent.at(-1)
        if (recent.length === maxRecentProjects && last && project.updated_at <= last.updated_at) continue
        const index = recent.findIndex(({ updated_at }) => updated_at < project.updated_at)
        recent.splice(index === -1 ? recent.length : index, 0, project)
        if (recent.length > maxRecentProjects) recent.pop()
      }
    return recent
  }, [data])
  if (projects.length === 0) return <div className="sidebar-recent" />
  return (
    <div className="sidebar-recent">
      <div className="sidebar-heading">
        <h2>Recent</h2>
        <IconButton icon={Plus} label="New project" onClick={() => setNewProjectOpen(true)} />
      </div>
      <ul className="sidebar-list">
        {projects.map((project) => (
          <RecentProject key={project.id} project={project} />
        ))}
      </ul>
    </div>
  )
}

function RecentProject({ project }: { project: Project }) {
  const isBuilding = project.status === 'building'
  // Only while building is it unclear from the project alone whether a version is live.
  const isServing = Boolean(useDeploymentSummary(project.slug, isBuilding).serving)
  const badge = projectBadge(project, isServing)
  return (
    <SidebarLink
      exact={false}
      href={`/projects/${project.slug}`}
      icon={
        <span className="sidebar-status">
          <StatusIcon badge={badge} size={10} label={badge.label} />
        </span>
      }
      text={project.name}
      note={
        isBuilding && isServing ? (
          <span className="sidebar-note">building</span>
        ) : (
          badge.shape === 'crescent' && <AsleepNote since={project.last_request_at} />
        )
      }
    />
  )
}

/** A reminder that the dashboard is open to the network. */
function NetworkOpenNote() {
  const isOwner = useInstanceSession().data?.user.is_instance_owner ?? false
  const { data: settings } = useSettings(isOwner)
  return settings?.lan ? (
    <span className="sidebar-note" title="The dashboard and apps are reachable from your local network">
      network open
    </span>
  ) : null
}

function AsleepNote({ since }: { since: string | null }) {
  const now = useNow(60_000)
  return (
    <span className="sidebar-note" title={since === null ? 'No requests yet' : `Last request ${formatAgo(since, now)}`}>
      asleep
    </span>
  )
}

const themes = [
  { value: 'light', text: 'Light' },
  { value: 'dark', text: 'Dark' },
  { value: 'system', text: 'System' },
] as const satisfies readonly { value: Theme; text: string }[]
const themeIcons = { light: Sun, dark: Moon, system: Monitor }

function SidebarFooter() {
  const localSession = useHomeSession().data
  const isHome = useConnection(({ current }) => current.id === localInstanceId)
  const theme = useUi((state) => state.theme)
  const setTheme = useUi((state) => state.setTheme)
  // The session of the instance that served the page, because this browser is signed in there.
  const signOut = useSignOut({ hidesErrorToast: true })
  return (
    <div className="sidebar-footer">
      <Menu
        align="start"
        trigger={
          <button type="button" className="sidebar-user">
            <UserRound size={16} aria-hidden />
            <span className="truncate">{localSession?.user.email ?? 'You'}</span>
          </button>
        }
      >
        <MenuItem icon={LogOut} onSelect={() => signOut.mutate({})}>
          {isHome ? 'Sign out' : 'Sign out of this machine'}
        </MenuItem>
        <MenuSeparator />
        <MenuRadioGroup label="Theme" value={theme} choices={themes} onChange={setTheme} />
      </Menu>
      <span className="sidebar-bell">
        <NotificationBell align="start" />
      </span>
      <Menu trigger={<IconButton icon={themeIcons[theme]} label={`Theme: ${theme}`} />}>
        <MenuRadioGroup label="Theme" value={theme} choices={themes} onChange={setTheme} />
      </Menu>
    </div>
  )
}
