import { Command } from 'cmdk'
import {
  Anchor,
  Archive,
  Braces,
  CircleHelp,
  ChartColumn,
  Database,
  Download,
  Eraser,
  ExternalLink,
  FileArchive,
  GitBranch,
  Globe,
  Flame,
  HardDrive,
  Keyboard,
  KeyRound,
  Layers,
  LockKeyhole,
  Monitor,
  Moon,
  Plus,
  Rocket,
  RotateCw,
  ScrollText,
  Send,
  Server,
  Settings2,
  ShieldCheck,
  Ship,
  Square,
  Sun,
  UserRound,
  Waypoints,
  Wifi,
} from 'lucide-react'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { useLocation, useRoute } from 'wouter'
import { useAction } from '../../api/actions.ts'
import { useCheckRepository } from '../../api/previews.ts'
import { wordsOf } from '../../../server/contract/find-project.ts'
import { useFoundProjects } from '../../api/found-projects.ts'
import { useOffered } from '../../api/offered.ts'
import { useInstance, useProject, useServing } from '../../api/queries.ts'
import { useHomeSession } from '../../api/remotes.ts'
import { base } from '../../stores/address.ts'
import { useConnection } from '../../stores/connection.ts'
import { useUi } from '../../stores/ui.ts'
import { Mark, projectSign } from '../../ui/status.tsx'
import { useWayBack } from '../../ui/way-back.ts'
import { hostOf } from '../instances/host.ts'
import { InstanceMark } from '../instances/instance-mark.tsx'
import { switchTo } from '../instances/switch.ts'
import { useKeyboard } from '../keyboard/store.ts'
import { openAddress } from '../frame/outside.ts'
import { useCrossings } from '../promote/crossings.ts'
import { useAddress, useSecureAddress } from '../project/address.ts'
import { useRestart } from '../project/use-restart.ts'
import { searchTopics } from '../../../server/help/topics.ts'
import './palette.css'

const shownProjects = 30

interface Act {
  text: string
  icon: ReactNode
  run: () => void
}

/** Every project and every action, by a few letters. */
export default function Palette() {
  const setOpen = useUi((state) => state.setPaletteOpen)
  const [query, setQuery] = useState('')
  const [, params] = useRoute('/projects/:slug/*?')
  const words = useMemo(() => wordsOf(query), [query])
  const fits = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const run = (act: () => void) => {
    setOpen(false)
    act()
  }
  const inside = useRef<HTMLDivElement>(null)
  useWayBack(inside)

  return (
    <Command.Dialog
      ref={inside}
      open
      onOpenChange={setOpen}
      label="Search or run a command"
      shouldFilter={false}
      overlayClassName="scrim"
      contentClassName="palette"
      loop
    >
      <Command.Input value={query} onValueChange={setQuery} placeholder="Search projects and commands" className="palette-input" />
      <Command.List className="palette-list">
        <Command.Empty className="palette-empty quiet">Nothing fits “{query}”.</Command.Empty>
        {params?.slug && <ProjectActs slug={params.slug} fits={fits} run={run} />}
        <Projects words={words} run={run} />
        <General fits={fits} run={run} />
        {words.length > 0 && <HelpPages query={query} run={run} />}
      </Command.List>
    </Command.Dialog>
  )
}

interface GroupProps {
  fits: (text: string) => boolean
  run: (act: () => void) => void
}

function Acts({ heading, acts, fits, run }: GroupProps & { heading: string; acts: Act[] }) {
  const shown = acts.filter(({ text }) => fits(`${heading} ${text}`))
  if (shown.length === 0) return null
  return (
    <Command.Group heading={heading}>
      {shown.map((act) => (
        <Command.Item key={act.text} value={`${heading} ${act.text}`} onSelect={() => run(act.run)} className="palette-item">
          {act.icon}
          {act.text}
        </Command.Item>
      ))}
    </Command.Group>
  )
}

function ProjectActs({ slug, ...group }: GroupProps & { slug: string }) {
  const { data: project } = useProject(slug)
  const { data: serving } = useServing(slug)
  const address = useAddress(slug)
  const secure = useSecureAddress(slug)
  const [, go] = useLocation()
  const root = `/projects/${slug}`
  const deploy = useAction('deployProject', { onDone: ({ deployment_id }) => go(`${root}/deployments/${deployment_id}`) })
  const restart = useRestart(slug)
  const change = useAction('updateProject', { done: 'Saved.' })
  const check = useCheckRepository(slug)
  const offered = useOffered()
  const crossings = useCrossings()
  if (!project) return null
  const acts: Act[] = [
    ...(project.is_connected ? [{ text: 'Deploy', icon: <Rocket size={16} aria-hidden />, run: () => deploy.mutate({ params: { slug } }) }] : []),
    { text: 'Deploy an archive: upload a .zip or .tar.gz…', icon: <FileArchive size={16} aria-hidden />, run: () => go(`${root}?do=upload`) },
    ...(address && serving ? [{ text: 'Open in the browser', icon: <ExternalLink size={16} aria-hidden />, run: () => openAddress(address) }] : []),
    ...(secure && serving ? [{ text: 'Open over HTTPS', icon: <LockKeyhole size={16} aria-hidden />, run: () => openAddress(secure) }] : []),
    ...(crossings.promote
      ? [{ text: 'Promote to another instance…', icon: <Send size={16} aria-hidden />, run: () => go(`${root}?do=promote`) }]
      : []),
    ...(crossings.pull ? [{ text: 'Pull to this machine…', icon: <Download size={16} aria-hidden />, run: () => go(`${root}?do=pull`) }] : []),
    { text: 'Overview', icon: <Ship size={16} aria-hidden />, run: () => go(root) },
    { text: 'Deployments', icon: <Waypoints size={16} aria-hidden />, run: () => go(`${root}/deployments`) },
    { text: 'Previews: branches', icon: <GitBranch size={16} aria-hidden />, run: () => go(`${root}/previews`) },
    { text: 'Previews: automatic deployments', icon: <GitBranch size={16} aria-hidden />, run: () => go(`${root}/previews?at=watching`) },
    ...(project.is_connected && offered.instance
      ? [{ text: 'Previews: look at the repository now', icon: <GitBranch size={16} aria-hidden />, run: () => check.mutate({ params: { slug } }) }]
      : []),
    { text: 'Logs', icon: <ScrollText size={16} aria-hidden />, run: () => go(`${root}/logs`) },
    { text: 'Metrics', icon: <ChartColumn size={16} aria-hidden />, run: () => go(`${root}/metrics`) },
    { text: 'Metrics of 7 days', icon: <ChartColumn size={16} aria-hidden />, run: () => go(`${root}/metrics?range=7d`) },
    { text: 'Metrics of 30 days', icon: <ChartColumn size={16} aria-hidden />, run: () => go(`${root}/metrics?range=30d`) },
    { text: 'Cache: what it keeps, and why', icon: <Layers size={16} aria-hidden />, run: () => go(`${root}/cache`) },
    { text: 'Purge everything from the cache…', icon: <Eraser size={16} aria-hidden />, run: () => go(`${root}/cache?purge=all`) },
    {
      text: offered.instance ? 'Purge by tag or address…' : 'Purge by tag…',
      icon: <Eraser size={16} aria-hidden />,
      run: () => go(`${root}/cache?at=purge`),
    },
    { text: 'Purge webhook and its token…', icon: <KeyRound size={16} aria-hidden />, run: () => go(`${root}/cache?at=webhook`) },
    {
      text: project.caching_enabled ? 'Edge cache: switch off' : 'Edge cache: switch on',
      icon: <Layers size={16} aria-hidden />,
      run: () => change.mutate({ params: { slug }, body: { caching_enabled: !project.caching_enabled } }),
    },
    {
      text: project.always_warm ? 'Always warm: switch off, let it sleep' : 'Always warm: switch on',
      icon: <Flame size={16} aria-hidden />,
      run: () => change.mutate({ params: { slug }, body: { always_warm: !project.always_warm } }),
    },
    { text: 'Environment: variables', icon: <Braces size={16} aria-hidden />, run: () => go(`${root}/environment`) },
    { text: 'Environment: add a variable…', icon: <Braces size={16} aria-hidden />, run: () => go(`${root}/environment?do=add`) },
    { text: 'Environment: paste a .env file…', icon: <Braces size={16} aria-hidden />, run: () => go(`${root}/environment?do=import`) },
    { text: 'Database: connection, dumps', icon: <Database size={16} aria-hidden />, run: () => go(`${root}/database`) },
    ...(offered.instance
      ? [
          {
            text: 'Database: dump, restore, import a file of SQL…',
            icon: <Database size={16} aria-hidden />,
            run: () => go(`${root}/database?at=dumps`),
          },
        ]
      : []),
    { text: 'Database: drop…', icon: <Database size={16} aria-hidden />, run: () => go(`${root}/database?do=drop`) },
    { text: 'Domains: names of this project', icon: <Globe size={16} aria-hidden />, run: () => go(`${root}/domains`) },
    { text: 'Domains: add one of your own…', icon: <Globe size={16} aria-hidden />, run: () => go(`${root}/domains?do=add`) },
    { text: 'Domains: buy one…', icon: <Globe size={16} aria-hidden />, run: () => go(`${root}/domains?do=buy`) },
    { text: 'Settings', icon: <Settings2 size={16} aria-hidden />, run: () => go(`${root}/settings`) },
    ...(serving
      ? [
          { text: 'Restart', icon: <RotateCw size={16} aria-hidden />, run: () => restart.mutate(serving) },
          { text: 'Stop…', icon: <Square size={16} aria-hidden />, run: () => go(`${root}?do=stop`) },
        ]
      : []),
  ]
  return <Acts heading={project.name} acts={acts} {...group} />
}

function Projects({ words, run }: { words: string[]; run: GroupProps['run'] }) {
  const [, go] = useLocation()
  const shown = useFoundProjects(words.join(' ')).shown.slice(0, shownProjects)
  if (shown.length === 0) return null
  return (
    <Command.Group heading="Projects">
      {shown.map((project) => (
        <Command.Item key={project.id} value={project.id} onSelect={() => run(() => go(`/projects/${project.slug}`))} className="palette-item">
          <span className="palette-mark">
            <Mark sign={projectSign(project)} size={11} />
          </span>
          <span className="clip">{project.name}</span>
          <span className="faint palette-word">{projectSign(project).word}</span>
        </Command.Item>
      ))}
    </Command.Group>
  )
}

function General(group: GroupProps) {
  const [, go] = useLocation()
  const setTheme = useUi((state) => state.setTheme)
  const isOwner = useInstance().data?.user.is_instance_owner ?? false
  const setNewProjectOpen = useUi((state) => state.setNewProjectOpen)
  const setSheetOpen = useKeyboard((state) => state.setSheetOpen)
  const offered = useOffered()
  const here = useHomeSession().data
  const front = useConnection((state) => state.current.id)
  const connections = useConnection((state) => state.connections)
  const acts: Act[] = [
    { text: 'New project', icon: <Plus size={16} aria-hidden />, run: () => setNewProjectOpen(true) },
    { text: 'All projects', icon: <Ship size={16} aria-hidden />, run: () => go('/') },
    { text: 'Account: plan and card', icon: <UserRound size={16} aria-hidden />, run: () => go('/account?at=plan') },
    { text: 'All domains', icon: <Globe size={16} aria-hidden />, run: () => go('/domains') },
    { text: 'Account: API tokens', icon: <KeyRound size={16} aria-hidden />, run: () => go('/account?at=tokens') },
    { text: 'Account: create an API token…', icon: <KeyRound size={16} aria-hidden />, run: () => go('/account?do=token') },
    ...(offered.instance
      ? [{ text: 'Instance: runtime, people, settings', icon: <Anchor size={16} aria-hidden />, run: () => go('/instance') }]
      : []),
    ...connections
      .filter(({ id }) => id !== front)
      .map((connection) => ({
        text: `Switch to ${connection.name}, ${hostOf(connection.origin)}`,
        icon: <InstanceMark connection={connection} size={18} />,
        run: () => switchTo(connection.id),
      })),
    ...(here?.user.is_instance_owner
      ? [
          { text: 'All instances', icon: <Server size={16} aria-hidden />, run: () => go(`~${base}/instances`) },
          { text: 'Add an instance: by address and token…', icon: <Server size={16} aria-hidden />, run: () => go(`~${base}/instances?do=add`) },
        ]
      : []),
    ...(isOwner
      ? [
          { text: 'Network: open it to phones and other machines…', icon: <Wifi size={16} aria-hidden />, run: () => go('/instance/network') },
          { text: 'Network: set the owner’s password…', icon: <Wifi size={16} aria-hidden />, run: () => go('/instance/network?at=lan') },
          { text: 'Network: trust HTTPS on this machine…', icon: <ShieldCheck size={16} aria-hidden />, run: () => go('/instance/network?at=https') },
          { text: 'Network: send plain HTTP on to HTTPS…', icon: <ShieldCheck size={16} aria-hidden />, run: () => go('/instance/network?at=https') },
          { text: 'Network: names in the hosts file…', icon: <Wifi size={16} aria-hidden />, run: () => go('/instance/network?at=hosts-file') },
          { text: 'Disk: what takes which room', icon: <HardDrive size={16} aria-hidden />, run: () => go('/instance/disk') },
          { text: 'Disk: clean up…', icon: <Eraser size={16} aria-hidden />, run: () => go('/instance/disk?do=clean') },
          { text: 'Backups: make one, download one', icon: <Archive size={16} aria-hidden />, run: () => go('/instance/backups') },
          { text: 'Backups: bring one back…', icon: <Archive size={16} aria-hidden />, run: () => go('/instance/backups?at=bring-back') },
          { text: 'Backups: dumps of every database', icon: <Database size={16} aria-hidden />, run: () => go('/instance/backups?at=every-dump') },
        ]
      : []),
    { text: 'Help: every page', icon: <CircleHelp size={16} aria-hidden />, run: () => go('/help') },
    { text: 'Keyboard: every shortcut', icon: <Keyboard size={16} aria-hidden />, run: () => setSheetOpen(true) },
    { text: 'Theme: light', icon: <Sun size={16} aria-hidden />, run: () => setTheme('light') },
    { text: 'Theme: dark', icon: <Moon size={16} aria-hidden />, run: () => setTheme('dark') },
    { text: 'Theme: system', icon: <Monitor size={16} aria-hidden />, run: () => setTheme('system') },
  ]
  return <Acts heading="Homeport" acts={acts} {...group} />
}

const shownTopics = 5

function HelpPages({ query, run }: { query: string; run: GroupProps['run'] }) {
  const [, go] = useLocation()
  const found = searchTopics(query, true).slice(0, shownTopics)
  if (found.length === 0) return null
  return (
    <Command.Group heading="Help">
      {found.map(({ id, title }) => (
        <Command.Item key={id} value={`Help ${id}`} onSelect={() => run(() => go(`/help/${id}`))} className="palette-item">
          <CircleHelp size={16} aria-hidden />
          {title}
        </Command.Item>
      ))}
    </Command.Group>
  )
}
