import { Command } from 'cmdk'
import { CircleHelp } from 'lucide-react'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import type { Project } from '../../../server/contract/projects.ts'
import { useDeployments, useRedeploy } from '../../api/deployments.ts'
import { useProjectSearch } from '../../api/project-search.ts'
import { deploymentTitle } from '../../components/deployment-line.tsx'
import { StatusIcon, deploymentBadge, projectBadge } from '../../components/status.tsx'
import { searchTopics } from '../../../server/help/topics.ts'
import { type ProjectLink, splitProjectQuery } from './project-links.ts'
import styles from './command-palette.module.css'
import type { GroupProps } from './command-group.tsx'

const maxProjects = 30
/** Before anything is typed. */
const maxInitialProjects = 5
const maxLinkedProjects = 4
const recentProjectPrefix = 'project/'

export function ProjectResults({ terms, run, isBlank, recent }: GroupProps & { terms: string[] }) {
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
export function DeploymentResults({ slug, matchesQuery, run }: Pick<GroupProps, 'matchesQuery' | 'run'> & { slug: string }) {
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
export function ProjectLinkResults({ terms, run }: { terms: string[]; run: GroupProps['run'] }) {
  const split = useMemo(() => splitProjectQuery(terms), [terms])
  const { matches } = useProjectSearch(split?.project.join(' ') ?? '')
  if (!split || matches.length === 0 || split.links.length === 0) return null
  return (
    <Command.Group heading="In projects">
      {matches.slice(0, maxLinkedProjects).map((project) => (
        <ProjectLinks key={project.id} project={project} links={split.links} run={run} />
      ))}
    </Command.Group>
  )
}

function ProjectLinks({ project, links, run }: { project: Project; links: readonly ProjectLink[]; run: GroupProps['run'] }) {
  const [, navigate] = useLocation()
  const redeploy = useRedeploy(
    project,
    links.some(({ path }) => path === null),
  )
  return links.map(({ text, icon: Icon, path }) => {
    const select = path === null ? redeploy : () => navigate(`/projects/${project.slug}${path}`)
    return (
      select && (
        <Command.Item
          key={text}
          value={`${project.id} ${text}`}
          onSelect={() => run(select, `${recentProjectPrefix}${project.slug}`)}
          className={styles.paletteItem}
        >
          <Icon size={16} aria-hidden />
          <span className="truncate">{project.name}</span>
          <span className="text-muted">{text}</span>
        </Command.Item>
      )
    )
  })
}

const maxTopics = 5

export function HelpResults({ query, run }: { query: string; run: GroupProps['run'] }) {
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
