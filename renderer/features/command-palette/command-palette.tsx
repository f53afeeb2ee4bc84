import { Command } from 'cmdk'
import {
  Anchor,
  Archive,
  Bell,
  Braces,
  ChartColumn,
  CircleHelp,
  Database,
  Download,
  Eraser,
  ExternalLink,
  FileArchive,
  Flame,
  GitBranch,
  Globe,
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
  SquareTerminal,
  Sun,
  UserRound,
  Waypoints,
  Wifi,
} from 'lucide-react'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { useLocation, useRoute } from 'wouter'
import { useRestart, useServingDeployment } from '../../api/deployments.ts'
import { useInstanceSession } from '../../api/instance.ts'
import { useCheckRepository } from '../../api/previews.ts'
import { useProjectSearch } from '../../api/project-search.ts'
import { useDeployProject, useProject, useUpdateProject } from '../../api/projects.ts'
import { useHomeSession } from '../../api/remotes.ts'
import { splitSearchWords } from '../../../server/contract/project-search.ts'
import { useCapabilities, usePromotionTargets } from '../../api/capabilities.ts'
import { basePath, hostLabel } from '../../lib/instance-path.ts'
import { useConnection, switchInstance } from '../../stores/connection.ts'
import { useUi } from '../../stores/ui.ts'
import { StatusIcon, projectBadge } from '../../components/status.tsx'
import { useRestoreFocus } from '../../lib/use-restore-focus.ts'
import { InstanceIcon } from '../../components/instance-icon.tsx'
import { useKeyboard } from '../../stores/keyboard.ts'
import { openExternalUrl } from '../../lib/external-links.ts'
import { useAppUrl, useSecureAppUrl } from '../../api/app-url.ts'
import { searchTopics } from '../../../server/help/topics.ts'
import styles from './command-palette.module.css'

const maxProjects = 30

interface PaletteCommand {
  text: string
  icon: ReactNode
  run: () => void
}

/** Search over all projects and actions. */
export default function CommandPalette() {
  const setOpen = useUi((state) => state.setPaletteOpen)
  const [query, setQuery] = useState('')
  const [, params] = useRoute('/projects/:slug/*?')
  const terms = useMemo(() => splitSearchWords(query), [query])
  const matchesQuery = (text: string) => terms.every((word) => text.toLowerCase().includes(word))
  const run = (command: () => void) => {
    setOpen(false)
    command()
  }
  const dialogRef = useRef<HTMLDivElement>(null)
  useRestoreFocus(dialogRef)

  return (
    <Command.Dialog
      ref={dialogRef}
      open
      onOpenChange={setOpen}
      label="Search or run a command"
      shouldFilter={false}
      overlayClassName="scrim"
      contentClassName={styles.palette}
      loop
    >
      <Command.Input value={query} onValueChange={setQuery} placeholder="Search projects and commands" className={styles.paletteInput} />
      <Command.List className={styles.paletteList}>
        <Command.Empty className={`${styles.paletteEmpty} text-muted`}>No results for “{query}”.</Command.Empty>
        {params?.slug && <ProjectCommands slug={params.slug} matchesQuery={matchesQuery} run={run} />}
        <ProjectResults terms={terms} run={run} />
        <GlobalCommands matchesQuery={matchesQuery} run={run} />
        {terms.length > 0 && <HelpResults query={query} run={run} />}
      </Command.List>
    </Command.Dialog>
  )
}

interface GroupProps {
  matchesQuery: (text: string) => boolean
  run: (command: () => void) => void
}

function CommandGroup({ heading, commands, matchesQuery, run }: GroupProps & { heading: string; commands: PaletteCommand[] }) {
  const matches = commands.filter(({ text }) => matchesQuery(`${heading} ${text}`))
  if (matches.length === 0) return null
  return (
    <Command.Group heading={heading}>
      {matches.map((command) => (
        <Command.Item key={command.text} value={`${heading} ${command.text}`} onSelect={() => run(command.run)} className={styles.paletteItem}>
          {command.icon}
          {command.text}
        </Command.Item>
      ))}
    </Command.Group>
  )
}

function ProjectCommands({ slug, ...group }: GroupProps & { slug: string }) {
  const { data: project } = useProject(slug)
  const { data: serving } = useServingDeployment(slug)
  const address = useAppUrl(slug)
  const secureUrl = useSecureAppUrl(slug)
  const [, navigate] = useLocation()
  const projectPath = `/projects/${slug}`
  const deploy = useDeployProject({ onSuccess: ({ deployment_id }) => navigate(`${projectPath}/deployments/${deployment_id}`) })
  const restart = useRestart(slug)
  const change = useUpdateProject({ successMessage: 'Saved.' })
  const check = useCheckRepository({ successMessage: 'Repository checked.' })
  const capabilities = useCapabilities()
  const promotionTargets = usePromotionTargets()
  if (!project) return null
  const commands: PaletteCommand[] = [
    ...(project.is_connected ? [{ text: 'Deploy', icon: <Rocket size={16} aria-hidden />, run: () => deploy.mutate({ params: { slug } }) }] : []),
    {
      text: 'Deploy: upload a .zip or .tar.gz…',
      icon: <FileArchive size={16} aria-hidden />,
      run: () => navigate(`${projectPath}?do=upload`),
    },
    ...(address && serving ? [{ text: 'Open in browser', icon: <ExternalLink size={16} aria-hidden />, run: () => openExternalUrl(address) }] : []),
    ...(secureUrl && serving
      ? [{ text: 'Open over HTTPS', icon: <LockKeyhole size={16} aria-hidden />, run: () => openExternalUrl(secureUrl) }]
      : []),
    ...(promotionTargets.promote
      ? [{ text: 'Promote to another instance…', icon: <Send size={16} aria-hidden />, run: () => navigate(`${projectPath}?do=promote`) }]
      : []),
    ...(promotionTargets.pull
      ? [{ text: 'Pull to this machine…', icon: <Download size={16} aria-hidden />, run: () => navigate(`${projectPath}?do=pull`) }]
      : []),
    { text: 'Overview', icon: <Ship size={16} aria-hidden />, run: () => navigate(projectPath) },
    { text: 'Deployments', icon: <Waypoints size={16} aria-hidden />, run: () => navigate(`${projectPath}/deployments`) },
    { text: 'Previews: branches', icon: <GitBranch size={16} aria-hidden />, run: () => navigate(`${projectPath}/previews`) },
    {
      text: 'Previews: automatic deployments',
      icon: <GitBranch size={16} aria-hidden />,
      run: () => navigate(`${projectPath}/previews?at=watching`),
    },
    ...(project.is_connected && capabilities.has_instance_api
      ? [{ text: 'Previews: check the repository now', icon: <GitBranch size={16} aria-hidden />, run: () => check.mutate({ params: { slug } }) }]
      : []),
    { text: 'Logs', icon: <ScrollText size={16} aria-hidden />, run: () => navigate(`${projectPath}/logs`) },
    ...(capabilities.has_instance_api && serving
      ? [{ text: 'Terminal: open a shell', icon: <SquareTerminal size={16} aria-hidden />, run: () => navigate(`${projectPath}/terminal`) }]
      : []),
    { text: 'Metrics', icon: <ChartColumn size={16} aria-hidden />, run: () => navigate(`${projectPath}/metrics`) },
    { text: 'Metrics: last 7 days', icon: <ChartColumn size={16} aria-hidden />, run: () => navigate(`${projectPath}/metrics?range=7d`) },
    { text: 'Metrics: last 30 days', icon: <ChartColumn size={16} aria-hidden />, run: () => navigate(`${projectPath}/metrics?range=30d`) },
    { text: 'Cache: status and inspector', icon: <Layers size={16} aria-hidden />, run: () => navigate(`${projectPath}/cache`) },
    { text: 'Cache: purge everything…', icon: <Eraser size={16} aria-hidden />, run: () => navigate(`${projectPath}/cache?purge=all`) },
    {
      text: capabilities.has_instance_api ? 'Cache: purge by tag or URL…' : 'Cache: purge by tag…',
      icon: <Eraser size={16} aria-hidden />,
      run: () => navigate(`${projectPath}/cache?at=purge`),
    },
    { text: 'Cache: purge webhook and token…', icon: <KeyRound size={16} aria-hidden />, run: () => navigate(`${projectPath}/cache?at=webhook`) },
    {
      text: project.caching_enabled ? 'Edge cache: turn off' : 'Edge cache: turn on',
      icon: <Layers size={16} aria-hidden />,
      run: () => change.mutate({ params: { slug }, body: { caching_enabled: !project.caching_enabled } }),
    },
    {
      text: project.always_warm ? 'Always warm: turn off' : 'Always warm: turn on',
      icon: <Flame size={16} aria-hidden />,
      run: () => change.mutate({ params: { slug }, body: { always_warm: !project.always_warm } }),
    },
    ...(capabilities.has_instance_api
      ? [{ text: 'Notifications: email, webhooks, Slack', icon: <Bell size={16} aria-hidden />, run: () => navigate(`${projectPath}/notifications`) }]
      : []),
    { text: 'Environment: variables', icon: <Braces size={16} aria-hidden />, run: () => navigate(`${projectPath}/environment`) },
    { text: 'Environment: add variable…', icon: <Braces size={16} aria-hidden />, run: () => navigate(`${projectPath}/environment?do=add`) },
    { text: 'Environment: import a .env file…', icon: <Braces size={16} aria-hidden />, run: () => navigate(`${projectPath}/environment?do=import`) },
    { text: 'Database: connection and dumps', icon: <Database size={16} aria-hidden />, run: () => navigate(`${projectPath}/database`) },
    ...(capabilities.has_instance_api
      ? [
          {
            text: 'Database: dump, restore or import SQL…',
            icon: <Database size={16} aria-hidden />,
            run: () => navigate(`${projectPath}/database?at=dumps`),
          },
        ]
      : []),
    { text: 'Database: drop…', icon: <Database size={16} aria-hidden />, run: () => navigate(`${projectPath}/database?do=drop`) },
    ...(capabilities.has_instance_api
      ? [
          { text: 'Volumes: files and snapshots', icon: <HardDrive size={16} aria-hidden />, run: () => navigate(`${projectPath}/volumes`) },
          { text: 'Volumes: keep a path…', icon: <HardDrive size={16} aria-hidden />, run: () => navigate(`${projectPath}/volumes?do=add`) },
        ]
      : []),
    { text: 'Domains of this project', icon: <Globe size={16} aria-hidden />, run: () => navigate(`${projectPath}/domains`) },
    { text: 'Domains: add your own domain…', icon: <Globe size={16} aria-hidden />, run: () => navigate(`${projectPath}/domains?do=add`) },
    { text: 'Domains: buy a domain…', icon: <Globe size={16} aria-hidden />, run: () => navigate(`${projectPath}/domains?do=buy`) },
    { text: 'Settings', icon: <Settings2 size={16} aria-hidden />, run: () => navigate(`${projectPath}/settings`) },
    ...(serving
      ? [
          { text: 'Restart', icon: <RotateCw size={16} aria-hidden />, run: () => restart.mutate(serving) },
          { text: 'Stop…', icon: <Square size={16} aria-hidden />, run: () => navigate(`${projectPath}?do=stop`) },
        ]
      : []),
  ]
  return <CommandGroup heading={project.name} commands={commands} {...group} />
}

function ProjectResults({ terms, run }: { terms: string[]; run: GroupProps['run'] }) {
  const [, navigate] = useLocation()
  const matches = useProjectSearch(terms.join(' ')).matches.slice(0, maxProjects)
  if (matches.length === 0) return null
  return (
    <Command.Group heading="Projects">
      {matches.map((project) => (
        <Command.Item
          key={project.id}
          value={project.id}
          onSelect={() => run(() => navigate(`/projects/${project.slug}`))}
          className={styles.paletteItem}
        >
          <span className={styles.paletteMark}>
            <StatusIcon badge={projectBadge(project)} size={11} />
          </span>
          <span className="truncate">{project.name}</span>
          <span className={`text-subtle ${styles.paletteWord}`}>{projectBadge(project).label}</span>
        </Command.Item>
      ))}
    </Command.Group>
  )
}

function GlobalCommands(group: GroupProps) {
  const [, navigate] = useLocation()
  const setTheme = useUi((state) => state.setTheme)
  const isOwner = useInstanceSession().data?.user.is_instance_owner ?? false
  const setNewProjectOpen = useUi((state) => state.setNewProjectOpen)
  const setSheetOpen = useKeyboard((state) => state.setShortcutsOpen)
  const capabilities = useCapabilities()
  const localSession = useHomeSession().data
  const currentId = useConnection((state) => state.current.id)
  const connections = useConnection((state) => state.connections)
  const commands: PaletteCommand[] = [
    { text: 'New project', icon: <Plus size={16} aria-hidden />, run: () => setNewProjectOpen(true) },
    { text: 'All projects', icon: <Ship size={16} aria-hidden />, run: () => navigate('/') },
    { text: 'Account: plan and card', icon: <UserRound size={16} aria-hidden />, run: () => navigate('/account?at=plan') },
    { text: 'All domains', icon: <Globe size={16} aria-hidden />, run: () => navigate('/domains') },
    { text: 'Account: API tokens', icon: <KeyRound size={16} aria-hidden />, run: () => navigate('/account?at=tokens') },
    { text: 'Account: create API token…', icon: <KeyRound size={16} aria-hidden />, run: () => navigate('/account?do=token') },
    ...(capabilities.has_instance_api
      ? [{ text: 'Instance: runtime, people, settings', icon: <Anchor size={16} aria-hidden />, run: () => navigate('/instance') }]
      : []),
    ...connections
      .filter(({ id }) => id !== currentId)
      .map((connection) => ({
        text: `Switch to ${connection.name}, ${hostLabel(connection.origin)}`,
        icon: <InstanceIcon connection={connection} size={18} />,
        run: () => switchInstance(connection.id),
      })),
    ...(localSession?.user.is_instance_owner
      ? [
          { text: 'All instances', icon: <Server size={16} aria-hidden />, run: () => navigate(`~${basePath}/instances`) },
          {
            text: 'Add instance…',
            icon: <Server size={16} aria-hidden />,
            run: () => navigate(`~${basePath}/instances?do=add`),
          },
        ]
      : []),
    ...(isOwner
      ? [
          { text: 'Network: open to phones and other devices…', icon: <Wifi size={16} aria-hidden />, run: () => navigate('/instance/network') },
          { text: 'Network: set owner password…', icon: <Wifi size={16} aria-hidden />, run: () => navigate('/instance/network?at=lan') },
          {
            text: 'Network: trust HTTPS on this machine…',
            icon: <ShieldCheck size={16} aria-hidden />,
            run: () => navigate('/instance/network?at=https'),
          },
          {
            text: 'Network: redirect HTTP to HTTPS…',
            icon: <ShieldCheck size={16} aria-hidden />,
            run: () => navigate('/instance/network?at=https'),
          },
          { text: 'Network: hosts file…', icon: <Wifi size={16} aria-hidden />, run: () => navigate('/instance/network?at=hosts-file') },
          { text: 'Disk: usage', icon: <HardDrive size={16} aria-hidden />, run: () => navigate('/instance/disk') },
          { text: 'Disk: clean up…', icon: <Eraser size={16} aria-hidden />, run: () => navigate('/instance/disk?do=clean') },
          { text: 'Backups: create or download', icon: <Archive size={16} aria-hidden />, run: () => navigate('/instance/backups') },
          { text: 'Backups: restore…', icon: <Archive size={16} aria-hidden />, run: () => navigate('/instance/backups?at=restore') },
          {
            text: 'Backups: all database dumps',
            icon: <Database size={16} aria-hidden />,
            run: () => navigate('/instance/backups?at=every-dump'),
          },
        ]
      : []),
    { text: 'Help: all topics', icon: <CircleHelp size={16} aria-hidden />, run: () => navigate('/help') },
    { text: 'Keyboard shortcuts', icon: <Keyboard size={16} aria-hidden />, run: () => setSheetOpen(true) },
    { text: 'Theme: light', icon: <Sun size={16} aria-hidden />, run: () => setTheme('light') },
    { text: 'Theme: dark', icon: <Moon size={16} aria-hidden />, run: () => setTheme('dark') },
    { text: 'Theme: system', icon: <Monitor size={16} aria-hidden />, run: () => setTheme('system') },
  ]
  return <CommandGroup heading="Homeport" commands={commands} {...group} />
}

const maxTopics = 5

function HelpResults({ query, run }: { query: string; run: GroupProps['run'] }) {
  const [, navigate] = useLocation()
  const topics = searchTopics(query, true).slice(0, maxTopics)
  if (topics.length === 0) return null
  return (
    <Command.Group heading="Help">
      {topics.map(({ id, title }) => (
        <Command.Item key={id} value={`Help ${id}`} onSelect={() => run(() => navigate(`/help/${id}`))} className={styles.paletteItem}>
          <CircleHelp size={16} aria-hidden />
          {title}
        </Command.Item>
      ))}
    </Command.Group>
  )
}
