import {
  Bell,
  Braces,
  ChartColumn,
  ChartGantt,
  Database,
  Download,
  Eraser,
  ExternalLink,
  FileArchive,
  Flame,
  GitBranch,
  Globe,
  HardDrive,
  History,
  KeyRound,
  Layers,
  ListFilter,
  LockKeyhole,
  Rocket,
  RotateCw,
  ScrollText,
  Send,
  Settings2,
  Ship,
  Square,
  SquareTerminal,
  Table2,
  Trash2,
  Waypoints,
} from 'lucide-react'
import { useLocation } from 'wouter'
import { actionLabels } from '../../../server/contract/labels.ts'
import { useRedeploy, useRestart, useServingDeployment } from '../../api/deployments.ts'
import { useCheckRepository } from '../../api/previews.ts'
import { useProject, useUpdateProject } from '../../api/projects.ts'
import { useCapabilities, usePromotionTargets } from '../../api/capabilities.ts'
import { openExternalUrl } from '../../lib/external-links.ts'
import { useAppUrl, useSecureAppUrl } from '../../api/app-url.ts'
import { CommandGroup, type GroupProps, type PaletteCommand } from './command-group.tsx'

/** Actions and pages of the current project. */
export function ProjectCommands({ slug, ...group }: GroupProps & { slug: string }) {
  const { data: project } = useProject(slug)
  const { data: serving } = useServingDeployment(slug)
  const address = useAppUrl(slug)
  const secureUrl = useSecureAppUrl(slug)
  const [, navigate] = useLocation()
  const projectPath = `/projects/${slug}`
  const redeploy = useRedeploy({ slug, is_connected: project?.is_connected ?? false })
  const restart = useRestart(slug)
  const change = useUpdateProject({ successMessage: 'Saved.' })
  const check = useCheckRepository({ successMessage: 'Repository checked.' })
  const capabilities = useCapabilities()
  const promotionTargets = usePromotionTargets()
  if (!project) return null
  const commands: PaletteCommand[] = [
    ...(redeploy
      ? [
          project.is_connected
            ? {
                text: 'Deploy',
                synonyms: 'redeploy build ship release',
                shortcut: 'deploy' as const,
                isMain: true,
                icon: <Rocket size={16} aria-hidden />,
                run: redeploy,
              }
            : {
                text: actionLabels.retry,
                synonyms: 'deploy rebuild again',
                isMain: true,
                icon: <RotateCw size={16} aria-hidden />,
                run: redeploy,
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
    ...(capabilities.has_instance_api
      ? [
          {
            text: 'Requests',
            synonyms: 'http traffic access',
            icon: <ListFilter size={16} aria-hidden />,
            run: () => navigate(`${projectPath}/logs/requests`),
          },
          {
            text: 'Traces',
            synonyms: 'spans opentelemetry waterfall',
            icon: <ChartGantt size={16} aria-hidden />,
            run: () => navigate(`${projectPath}/logs/traces`),
          },
        ]
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
    ...(capabilities.has_instance_api
      ? [
          {
            text: 'Notifications: email, webhooks, Slack',
            synonyms: 'alert webhook email slack',
            icon: <Bell size={16} aria-hidden />,
            run: () => navigate(`${projectPath}/notifications`),
          },
          {
            text: 'Log drains: HTTP, syslog, files',
            synonyms: 'forward logs export syslog datadog',
            icon: <Send size={16} aria-hidden />,
            run: () => navigate(`${projectPath}/log-drains`),
          },
        ]
      : []),
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
          { text: 'Database: tables and rows', icon: <Table2 size={16} aria-hidden />, run: () => navigate(`${projectPath}/database/tables`) },
          {
            text: 'Database: SQL console',
            synonyms: 'query',
            icon: <SquareTerminal size={16} aria-hidden />,
            run: () => navigate(`${projectPath}/database/sql`),
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
    { text: 'Activity of this project', icon: <History size={16} aria-hidden />, run: () => navigate(`${projectPath}/activity`) },
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
