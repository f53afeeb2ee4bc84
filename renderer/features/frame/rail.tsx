import { Anchor, CircleHelp, Globe, LogOut, Monitor, Moon, Plus, Search, Ship, Sun, UserRound } from 'lucide-react'
import { useMemo } from 'react'
import { Link, useRoute } from 'wouter'
import { useMutation } from '@tanstack/react-query'
import { keepSession } from '../../api/session.ts'
import { useGlance } from '../../api/glances.ts'
import { useOffered } from '../../api/offered.ts'
import { useHomeSession } from '../../api/remotes.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useInstance, useProjects, useSettings } from '../../api/queries.ts'
import { home, useConnection } from '../../stores/connection.ts'
import { homeId } from '../../stores/address.ts'
import { useSession } from '../../stores/session.ts'
import { type Theme, useUi } from '../../stores/ui.ts'
import { IconButton } from '../../ui/button.tsx'
import { Menu, MenuChoice, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { ago } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import { Mark, projectSign } from '../../ui/status.tsx'
import { capsOf } from '../keyboard/chords.ts'
import { NoticeBell } from '../notices/bell.tsx'
import { InstanceSwitch } from './instance-switch.tsx'
import { Stumble } from './stumble.tsx'
import './rail.css'

const nearest = 8

export function Rail({ open }: { open: boolean }) {
  const setPaletteOpen = useUi((state) => state.setPaletteOpen)
  const offered = useOffered()
  return (
    <nav className={`rail ${open ? 'rail-open' : ''}`} aria-label="Main">
      <Stumble fallback={null}>
        <InstanceSwitch />
      </Stumble>
      <button type="button" className="rail-search" onClick={() => setPaletteOpen(true)}>
        <Search size={15} aria-hidden />
        <span>Search or run…</span>
        <kbd>{capsOf('mod+k').flat().join(' ')}</kbd>
      </button>
      <ul className="rail-list">
        <RailLink href="/" icon={<Ship size={16} aria-hidden />} text="Projects" />
        <RailLink href="/domains" icon={<Globe size={16} aria-hidden />} text="Domains" />
        {offered.instance && (
          <RailLink exact={false} href="/instance" icon={<Anchor size={16} aria-hidden />} text="Instance" note={<OpenNetwork />} />
        )}
        <RailLink href="/account" icon={<UserRound size={16} aria-hidden />} text="Account" />
      </ul>
      <Stumble fallback={<div className="rail-nearest" />}>
        <Nearest />
      </Stumble>
      <ul className="rail-list">
        <RailLink exact={false} href="/help" icon={<CircleHelp size={16} aria-hidden />} text="Help" />
      </ul>
      <RailFoot />
    </nav>
  )
}

interface RailLinkProps {
  href: string
  icon: React.ReactNode
  text: string
  /** A word at its end. */
  note?: React.ReactNode
  exact?: boolean
}

function RailLink({ href, icon, text, note, exact = true }: RailLinkProps) {
  const [active] = useRoute(exact ? href : `${href}/*?`)
  return (
    <li>
      <Link href={href} className="rail-link" aria-current={active ? 'page' : undefined}>
        {icon}
        <span className="clip">{text}</span>
        {note}
      </Link>
    </li>
  )
}

/** The projects that changed last: what somebody is working on is among them. */
function Nearest() {
  const { data } = useProjects()
  const setNewProjectOpen = useUi((state) => state.setNewProjectOpen)
  const projects = useMemo(() => {
    // Ten thousand may be loaded, and any change of one comes by here: they are looked through, not sorted.
    const found: Project[] = []
    for (const page of data?.pages ?? [])
      for (const project of page.projects) {
        const last = found.at(-1)
        if (found.length === nearest && last && project.updated_at <= last.updated_at) continue
        const place = found.findIndex(({ updated_at }) => updated_at < project.updated_at)
        found.splice(place === -1 ? found.length : place, 0, project)
        if (found.length > nearest) found.pop()
      }
    return found
  }, [data])
  if (projects.length === 0) return <div className="rail-nearest" />
  return (
    <div className="rail-nearest">
      <div className="rail-heading">
        <h2>Recent</h2>
        <IconButton icon={Plus} label="New project" onClick={() => setNewProjectOpen(true)} />
      </div>
      <ul className="rail-list">
        {projects.map((project) => (
          <NearProject key={project.id} project={project} />
        ))}
      </ul>
    </div>
  )
}

function NearProject({ project }: { project: Project }) {
  const isBuilding = project.status === 'building'
  // Only a build hides from the project itself whether a version serves.
  const isServing = Boolean(useGlance(project.slug, isBuilding).serving)
  const sign = projectSign(project, isServing)
  return (
    <RailLink
      exact={false}
      href={`/projects/${project.slug}`}
      icon={
        <span className="rail-mark">
          <Mark sign={sign} size={10} label={sign.word} />
        </span>
      }
      text={project.name}
      note={
        isBuilding && isServing ? (
          <span className="rail-note">building</span>
        ) : (
          sign.shape === 'crescent' && <Asleep since={project.last_request_at} />
        )
      }
    />
  )
}

/** Who let the network in shall not forget it. */
function OpenNetwork() {
  const isOwner = useInstance().data?.user.is_instance_owner ?? false
  const { data: settings } = useSettings(isOwner)
  return settings?.lan ? (
    <span className="rail-note" title="Dashboard and apps answer to the network around this machine">
      network open
    </span>
  ) : null
}

function Asleep({ since }: { since: string | null }) {
  const now = useNow(60_000)
  return (
    <span className="rail-note" title={since === null ? 'Nobody has asked for it yet' : `Last request ${ago(since, now)}`}>
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

function RailFoot() {
  const here = useHomeSession().data
  const isHome = useConnection(({ current }) => current.id === homeId)
  const theme = useUi((state) => state.theme)
  const setTheme = useUi((state) => state.setTheme)
  // Of the instance that served the page, whichever is in front: that is where this browser is signed in.
  const signOut = useMutation({
    mutationFn: () => home.client.call('signOut', {}),
    onSuccess() {
      keepSession(undefined)
      useSession.getState().setSignedOut(true)
    },
  })
  return (
    <div className="rail-foot">
      <Menu
        align="start"
        trigger={
          <button type="button" className="rail-user">
            <UserRound size={16} aria-hidden />
            <span className="clip">{here?.user.email ?? 'You'}</span>
          </button>
        }
      >
        <MenuItem icon={LogOut} onSelect={() => signOut.mutate()}>
          {isHome ? 'Sign out' : 'Sign out of this machine'}
        </MenuItem>
        <MenuLine />
        <MenuChoice label="Theme" value={theme} choices={themes} onChange={setTheme} />
      </Menu>
      <span className="rail-bell">
        <NoticeBell align="start" />
      </span>
      <Menu trigger={<IconButton icon={themeIcons[theme]} label={`Theme: ${theme}`} />}>
        <MenuChoice label="Theme" value={theme} choices={themes} onChange={setTheme} />
      </Menu>
    </div>
  )
}
