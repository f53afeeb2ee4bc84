import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { memo, useDeferredValue, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { Project } from '../../../server/contract/projects.ts'
import { useDeploymentSummary } from '../../api/deployment-summaries.ts'
import { frameworkName } from '../../lib/frameworks.ts'
import { StatusIcon, deploymentBadge } from '../../components/status.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { safeWebUrl } from '../../lib/safe-web-url.ts'
import { Thumbnail } from '../screenshots/index.ts'
import { deploymentTitle } from '../../components/deployment-line.tsx'
import { displayUrl, useAppUrls } from '../../api/app-url.ts'
import { ProjectStatusBadges } from '../../components/project-status-badges.tsx'
import { FavoriteButton } from './favorite-button.tsx'
import { RequestCourse } from './request-course.tsx'
import styles from './page.module.css'

export const projectRowHeight = 56

export interface ProjectListProps {
  projects: readonly Project[]
  favorites: readonly string[]
  /** Requests of the last 24 hours by hour, by slug. */
  requests: ReadonlyMap<string, number[]> | undefined
  onEndReached: () => void
}

/** A virtualized list of up to ten thousand projects. */
export function ProjectList({ projects, favorites, requests, words, onEndReached }: ProjectListProps & { words: string }) {
  const list = useRef<HTMLUListElement>(null)
  const addressOf = useAppUrls()
  const virtualizer = useWindowVirtualizer({
    count: projects.length,
    estimateSize: () => projectRowHeight,
    overscan: 6,
    scrollMargin: list.current?.offsetTop ?? 0,
    getItemKey: (index) => projects[index]?.id ?? index,
  })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  // While scrolling fast or typing a search, rows show cached data; details load after the paint.
  const settledWords = useDeferredValue(words)
  const isScrollSettled = useDeferredValue(!virtualizer.isScrolling)
  const settled = isScrollSettled && !virtualizer.isScrolling && settledWords === words

  useEffect(() => {
    if (last >= projects.length - 20) onEndReached()
  }, [last, projects.length, onEndReached])

  return (
    <ul ref={list} className={styles.projectList} data-rows style={{ height: virtualizer.getTotalSize() }} aria-label="Projects">
      {items.map((item) => {
        const project = projects[item.index]
        if (!project) return null
        return (
          <li
            key={item.key}
            aria-setsize={projects.length}
            aria-posinset={item.index + 1}
            style={{ height: projectRowHeight, transform: `translateY(${item.start - virtualizer.options.scrollMargin}px)` }}
          >
            <ProjectRow
              project={project}
              address={addressOf(project.slug)}
              requests={requests?.get(project.slug)}
              isFavorite={favorites.includes(project.slug)}
              settled={settled}
            />
          </li>
        )
      })}
    </ul>
  )
}

interface RowProps {
  project: Project
  address: string | null
  /** Requests of the last 24 hours, by hour. */
  requests: number[] | undefined
  isFavorite: boolean
  settled: boolean
}

const ProjectRow = memo(function ProjectRow({ project, address, requests, isFavorite, settled }: RowProps) {
  // Rows that scroll past load nothing and skip expensive layout; a row that was shown in full stays so.
  const [hasSettled, setHasSettled] = useState(settled)
  if (settled && !hasSettled) setHasSettled(true)
  return (
    <div className={styles.projectRow} data-testid="project-row">
      <div className={styles.projectName}>
        <Link href={`/projects/${project.slug}`} className={`${styles.projectLink} truncate`} data-testid="project-link">
          {project.name}
        </Link>
        {address && (
          <a className={`${styles.projectAddress} mono truncate`} href={safeWebUrl(address)} target="_blank" rel="noreferrer noopener">
            {displayUrl(address)}
          </a>
        )}
      </div>
      {hasSettled ? <ProjectRowDetails project={project} requests={requests} settled={settled} /> : <span className={styles.projectScreenshot} />}
      <div className={styles.projectStatus}>
        {hasSettled ? (
          <ProjectRowBadges project={project} settled={settled} />
        ) : (
          <ProjectStatusBadges project={project} serving={undefined} latest={undefined} />
        )}
        {project.is_cold && project.last_request_at && (
          <span className={`text-subtle ${styles.projectWhen}`}>
            last visit <RelativeTime at={project.last_request_at} />
          </span>
        )}
      </div>
      <FavoriteButton project={project} isFavorite={isFavorite} />
    </div>
  )
})

function ProjectRowBadges({ project, settled }: Omit<RowProps, 'address' | 'requests' | 'isFavorite'>) {
  return <ProjectStatusBadges project={project} {...useDeploymentSummary(project.slug, settled)} />
}

function ProjectRowDetails({ project, requests, settled }: Omit<RowProps, 'address' | 'isFavorite'>) {
  const { latest, serving } = useDeploymentSummary(project.slug, settled)
  // The row shows the current deployment, even if a later one exists.
  const shown = serving ?? latest
  return (
    <>
      <span className={styles.projectScreenshot}>{serving !== undefined && <Thumbnail slug={project.slug} deployment={serving} />}</span>
      <div className={styles.projectLatest}>
        {shown && (
          <>
            <span className="truncate">{deploymentTitle(shown)}</span>
            <span className={`text-subtle row ${styles.projectWhen}`}>
              <StatusIcon badge={deploymentBadge(shown.status)} size={9} label={deploymentBadge(shown.status).label} />
              <RelativeTime at={shown.created_at} />
              {shown.branch && <span className="truncate">on {shown.branch}</span>}
              {latest && latest.id !== shown.id && latest.target === 'production' && latest.status === 'failed' && (
                <span className={styles.projectFailed}>latest failed</span>
              )}
            </span>
          </>
        )}
        {shown === null && <span className="text-subtle">Not deployed yet</span>}
      </div>
      <span className={styles.projectRequests}>
        <RequestCourse requests={requests} />
      </span>
      <div className={`${styles.projectFramework} text-muted truncate`}>{shown?.framework && frameworkName(shown.framework)}</div>
    </>
  )
}
