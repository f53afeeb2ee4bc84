import type { LucideIcon } from 'lucide-react'
import { Braces, ChartColumn, Database, FileArchive, Globe, History, RotateCw, ScrollText, Settings2, Square, Trash2, Waypoints } from 'lucide-react'
import { actionLabels } from '../../../server/contract/labels.ts'

/** Pages, dialogs and actions of any project, for queries such as “shop logs”. */
export interface ProjectLink {
  text: string
  /** Other words for it. */
  synonyms: string
  icon: LucideIcon
  /** Below the path of the project; null for its redeployment, which has no page. */
  path: string | null
}

export const projectLinks: readonly ProjectLink[] = [
  { text: 'Logs', synonyms: 'output console', icon: ScrollText, path: '/logs' },
  { text: 'Deployments', synonyms: 'builds history', icon: Waypoints, path: '/deployments' },
  { text: 'Environment', synonyms: 'env config variables secrets', icon: Braces, path: '/environment' },
  { text: 'Metrics', synonyms: 'requests latency traffic', icon: ChartColumn, path: '/metrics' },
  { text: 'Database', synonyms: 'postgres sql dump', icon: Database, path: '/database' },
  { text: 'Domains', synonyms: 'dns hostname', icon: Globe, path: '/domains' },
  { text: 'Settings', synonyms: 'config build options', icon: Settings2, path: '/settings' },
  { text: 'Roll back…', synonyms: 'rollback revert undo', icon: History, path: '?do=rollback' },
  { text: actionLabels.retry, synonyms: 'deploy rebuild again', icon: RotateCw, path: null },
  { text: 'Upload archive…', synonyms: 'deploy redeploy zip', icon: FileArchive, path: '?do=upload' },
  { text: 'Stop…', synonyms: 'pause shut down', icon: Square, path: '?do=stop' },
  { text: 'Delete…', synonyms: 'remove destroy', icon: Trash2, path: '?do=delete' },
]

/**
 * The words of a query that name a project, and the pages that the other words name: “shop logs”, “logs shop”. Null for a query that names no page,
 * or nothing else.
 */
export function splitProjectQuery(terms: readonly string[]): { project: string[]; links: ProjectLink[] } | null {
  const isOfLink = (term: string) => projectLinks.some((link) => startsWord(link, term))
  const project = terms.filter((term) => !isOfLink(term))
  const page = terms.filter(isOfLink)
  if (project.length === 0 || page.length === 0) return null
  return { project, links: projectLinks.filter((link) => page.every((term) => startsWord(link, term))) }
}

/** At least two letters, so that the first letter of a project's name is no page. */
const startsWord = ({ text, synonyms }: ProjectLink, term: string): boolean =>
  term.length > 1 &&
  `${text} ${synonyms}`
    .toLowerCase()
    .split(/\s+/)
    .some((word) => word.startsWith(term))
