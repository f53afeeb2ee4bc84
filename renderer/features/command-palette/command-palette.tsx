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
  History,
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
  Trash2,
  UserRound,
  Waypoints,
  Wifi,
} from 'lucide-react'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { useLocation, useRoute } from 'wouter'
import { useDeployments, useRestart, useServingDeployment } from '../../api/deployments.ts'
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
import { deploymentTitle } from '../../components/deployment-line.tsx'
import { StatusIcon, deploymentBadge, projectBadge } from '../../components/status.tsx'
import { useRestoreFocus } from '../../lib/use-restore-focus.ts'
import { KeyCaps } from '../../components/key-caps.tsx'
import { InstanceIcon } from '../../components/instance-icon.tsx'
import { useKeyboard } from '../../stores/keyboard.ts'
import { type ShortcutId, shortcuts } from '../../stores/shortcuts.ts'
import { openExternalUrl } from '../../lib/external-links.ts'
import { useAppUrl, useSecureAppUrl } from '../../api/app-url.ts'
import { searchTopics } from '../../../server/help/topics.ts'
import { splitProjectQuery } from './project-links.ts'
import { readRecentCommands, rememberCommand } from './recent-commands.ts'
import styles from './command-palette.module.css'

const maxProjects = 30
/** Before anything is typed. */
const maxInitialProjects = 5
const maxLinkedProjects = 4
const recentProjectPrefix = 'project/'

interface PaletteCommand {
  text: string
  icon: ReactNode
  run: () => void
  /** Other words that find it. */
  synonyms?: string
  /** The keyboard shortcut that does the same. */
  shortcut?: ShortcutId
  /** Shown before anything is typed. */
  isMain?: boolean
}

/** Search over all projects and actions. */
export default function CommandPalette() {
  const setOpen = useUi((state) => state.setPaletteOpen)
  const [query, setQuery] = useState('')
  const [, params] = useRoute('/projects/:slug/*?')
  const terms = useMemo(() => splitSearchWords(query), [query])
  const [recent] = useState(readRecentCommands)
  const matchesQuery = (text: string) => terms.every((word) => text.toLowerCase().includes(word))
  const isBlank = terms.length === 0
  const run = (command: () => void, name: string) => {
    setOpen(false)
    rememberCommand(name)
    command()
  }
  const group = { matchesQuery, run, isBlank, recent }
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
        {params?.slug && <ProjectCommands slug={params.slug} {...group} />}
        {params?.slug && !isBlank && <DeploymentResults slug={params.slug} matchesQuery={matchesQuery} run={run} />}
        <ProjectResults terms={terms} {...group} />
        <ProjectLinkResults terms={terms} run={run} />
        <GlobalCommands {...group} />
        {!isBlank && <HelpResults query={query} run={run} />}
      </Command.List>
    </Command.Dialog>
  )
}

interface GroupProps {
  matchesQuery: (text: string) => boolean
  /** `name`: by which it is remembered as recent. */
  run: (command: () => void, name: string) => void
  /** Nothing is typed yet: only main and recent commands are shown. */
  isBlank: boolean
  recent: readonly string[]
}

function CommandGroup({
  heading,
  commands,
  matchesQuery,
  run,
  isBlank,
  recent,
}: GroupProps & { heading: string; commands: readonly PaletteCommand[] }) {
  const rank = ({ text }: PaletteCommand) => (recent.includes(text) ? recent.indexOf(text) : recent.length)
  const matches = isBlank
    ? commands.filter((one) => one.isMain || recent.includes(one.text)).toSorted((a, b) => rank(a) - rank(b))
    : commands.filter(({ text, synonyms = '' }) => matchesQuery(`${heading} ${text} ${synonyms}`))
  if (matches.length === 0) return null
  return (
    <Command.Group heading={heading}>
      {matches.map((command) => (
        <Command.Item
          key={command.text}
          value={`${heading} ${command.text}`}
          onSelect={() => run(command.run, command.text)}
          className={styles.paletteItem}
        >
          {command.icon}
          {command.text}
          {command.shortcut && (
            <span className={styles.paletteKeys} aria-hidden>
              <KeyCaps keys={shortcuts[command.shortcut].keys[0]} />
            </span>
          )}
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
    ...(project.is_connected
      ? [
          {
            text: 'Deploy',
            synonyms: 'redeploy build ship release',
            shortcut: 'deploy' as const,
            isMain: true,
            icon: <Rocket size={16} aria-hidden />,
            run: () => deploy.mutate({ params: { slug } }),
          },
        ]
      : []),
    {
      text: 'Deploy: upload a .zip or .tar.gz…',
      icon: <FileArchive size={16} aria-hidden />,
      run: () => navigate(`${projectPath}?do=upload`),
    },
    ...(address && serving
      ? [
          {
            text: 'Open in browser',
            synonyms: 'visit url',
            shortcut: 'open' as const,
            isMain: true,
            icon: <ExternalLink size={16} aria-hidden />,
            run: () => openExternalUrl(address),
          },
        ]
      : []),
    ...(secureUrl && serving
      ? [{ text: 'Open over HTTPS', icon: <LockKeyhole size={16} aria-hidden />, run: () => openExternalUrl(secureUrl) }]
      : []),
    ...(promotionTargets.promote
      ? [{ text: 'Promote to another instance…', icon: <Send size={16} aria-hidden />, run: () => navigate(`${projectPath}?do=promote`) }]
      : []),
    ...(promotionTargets.pull
      ? [{ text: 'Pull to this machine…', icon: <Download size={16} aria-hidden />, run: () => navigate(`${projectPath}?do=pull`) }]
      : []),
    { text: 'Overview', shortcut: 'overview', icon: <Ship size={16} aria-hidden />, run: () => navigate(projectPath) },
    {
      text: 'Deployments',
      synonyms: 'builds history',
      isMain: true,
      icon: <Waypoints size={16} aria-hidden />,
      run: () => navigate(`${projectPath}/deployments`),
    },
    { text: 'Previews: branches', icon: <GitBranch size={16} aria-hidden />, run: () => navigate(`${projectPath}/previews`) },
    {
      text: 'Previews: automatic deployments',
      icon: <GitBranch size={16} aria-hidden />,
      run: () => navigate(`${projectPath}/previews?at=watching`),
    },
    ...(project.is_connected && capabilities.has_instance_api
      ? [{ text: 'Previews: check the repository now', icon: <GitBranch size={16} aria-hidden />, run: () => check.mutate({ params: { slug } }) }]
      : []),
    {
      text: 'Logs',
      synonyms: 'output console',
      shortcut: 'logs',
      isMain: true,
      icon: <ScrollText size={16} aria-hidden />,
      run: () => navigate(`${projectPath}/logs`),
    },
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
    {
      text: 'Environment: variables',
      synonyms: 'env config secrets',
      shortcut: 'environment',
      isMain: true,
      icon: <Braces size={16} aria-hidden />,
      run: () => navigate(`${projectPath}/environment`),
    },
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
    { text: 'Settings', synonyms: 'config build options', icon: <Settings2 size={16} aria-hidden />, run: () => navigate(`${projectPath}/settings`) },
    ...(serving
      ? [
          {
            text: 'Roll back…',
            synonyms: 'rollback revert undo',
            isMain: true,
            icon: <History size={16} aria-hidden />,
            run: () => navigate(`${projectPath}?do=rollback`),
          },
          { text: 'Restart', synonyms: 'reboot', isMain: true, icon: <RotateCw size={16} aria-hidden />, run: () => restart.mutate(serving) },
          { text: 'Stop…', synonyms: 'pause shut down', icon: <Square size={16} aria-hidden />, run: () => navigate(`${projectPath}?do=stop`) },
        ]
      : []),
    { text: 'Delete…', synonyms: 'remove destroy project', icon: <Trash2 size={16} aria-hidden />, run: () => navigate(`${projectPath}?do=delete`) },
  ]
  return <CommandGroup heading={project.name} commands={commands} {...group} />
}

function ProjectResults({ terms, run, isBlank, recent }: GroupProps & { terms: string[] }) {
  const [, navigate] = useLocation()
  const { matches } = useProjectSearch(terms.join(' '))
  // The recent ones come first, then the newest.
  const shown = useMemo(() => {
    if (!isBlank) return matches.slice(0, maxProjects)
    const slugs = recent.flatMap((name) => (name.startsWith(recentProjectPrefix) ? [name.slice(recentProjectPrefix.length)] : []))
    const isRecent = new Set(slugs)
    const first = slugs.flatMap((slug) => matches.find((one) => one.slug === slug) ?? [])
    return [...first, ...matches.filter(({ slug }) => !isRecent.has(slug)).slice(0, maxInitialProjects)].slice(0, maxInitialProjects)
  }, [matches, isBlank, recent])
  if (shown.length === 0) return null
  return (
    <Command.Group heading="Projects">
      {shown.map((project) => (
        <Command.Item
          key={project.id}
          value={project.id}
          onSelect={() => run(() => navigate(`/projects/${project.slug}`), `${recentProjectPrefix}${project.slug}`)}
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

const maxDeployments = 4

/** Deployments of the current project by number, title or commit, among those that are loaded. */
function DeploymentResults({ slug, matchesQuery, run }: Pick<GroupProps, 'matchesQuery' | 'run'> & { slug: string }) {
  const [, navigate] = useLocation()
  const { data } = useDeployments(slug, {})
  const matches = (data?.pages ?? [])
    .flatMap((page) => page.deployments)
    .filter((one) => matchesQuery(`${one.number === undefined ? '' : `#${one.number}`} ${deploymentTitle(one)} ${one.commit_sha ?? ''}`))
  if (matches.length === 0) return null
  return (
    <Command.Group heading="Deployments">
      {matches.slice(0, maxDeployments).map((deployment) => (
        <Command.Item
          key={deployment.id}
          value={deployment.id}
          onSelect={() => run(() => navigate(`/projects/${slug}/deployments/${deployment.id}`), deployment.id)}
          className={styles.paletteItem}
        >
          <span className={styles.paletteMark}>
            <StatusIcon badge={deploymentBadge(deployment.status)} size={11} />
          </span>
          <span className="truncate">{deploymentTitle(deployment)}</span>
          {deployment.number !== undefined && <span className={`text-subtle ${styles.paletteWord}`}>#{deployment.number}</span>}
        </Command.Item>
      ))}
    </Command.Group>
  )
}

/** Pages of projects, for a query such as “shop logs”. */
function ProjectLinkResults({ terms, run }: { terms: string[]; run: GroupProps['run'] }) {
  const [, navigate] = useLocation()
  const split = useMemo(() => splitProjectQuery(terms), [terms])
  const { matches } = useProjectSearch(split?.project.join(' ') ?? '')
  if (!split || matches.length === 0 || split.links.length === 0) return null
  return (
    <Command.Group heading="In projects">
      {matches.slice(0, maxLinkedProjects).flatMap((project) =>
        split.links.map(({ text, icon: Icon, path }) => (
          <Command.Item
            key={`${project.id} ${path}`}
            value={`${project.id} ${path}`}
            onSelect={() => run(() => navigate(`/projects/${project.slug}${path}`), `${recentProjectPrefix}${project.slug}`)}
            className={styles.paletteItem}
          >
            <Icon size={16} aria-hidden />
            <span className="truncate">{project.name}</span>
            <span className="text-muted">{text}</span>
          </Command.Item>
        )),
      )}
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
    {
      text: 'New project',
      synonyms: 'create add deploy',
      shortcut: 'new-project',
      isMain: true,
      icon: <Plus size={16} aria-hidden />,
      run: () => setNewProjectOpen(true),
    },
    { text: 'All projects', shortcut: 'go-projects', isMain: true, icon: <Ship size={16} aria-hidden />, run: () => navigate('/') },
    { text: 'Account: plan and card', shortcut: 'go-account', icon: <UserRound size={16} aria-hidden />, run: () => navigate('/account?at=plan') },
    { text: 'All domains', shortcut: 'go-domains', icon: <Globe size={16} aria-hidden />, run: () => navigate('/domains') },
    { text: 'Account: API tokens', icon: <KeyRound size={16} aria-hidden />, run: () => navigate('/account?at=tokens') },
    { text: 'Account: create API token…', icon: <KeyRound size={16} aria-hidden />, run: () => navigate('/account?do=token') },
    ...(capabilities.has_instance_api
      ? [
          {
            text: 'Instance: health, load and runtime',
            shortcut: 'go-instance' as const,
            icon: <Anchor size={16} aria-hidden />,
            run: () => navigate('/instance'),
          },
          {
            text: 'Instance: settings and people',
            synonyms: 'config developer plan',
            icon: <Anchor size={16} aria-hidden />,
            run: () => navigate('/instance/settings'),
          },
        ]
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
    { text: 'Help: all topics', shortcut: 'go-help', isMain: true, icon: <CircleHelp size={16} aria-hidden />, run: () => navigate('/help') },
    { text: 'Keyboard shortcuts', shortcut: 'sheet', icon: <Keyboard size={16} aria-hidden />, run: () => setSheetOpen(true) },
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
        <Command.Item key={id} value={`Help ${id}`} onSelect={() => run(() => navigate(`/help/${id}`), title)} className={styles.paletteItem}>
          <CircleHelp size={16} aria-hidden />
          {title}
        </Command.Item>
      ))}
    </Command.Group>
  )
}
