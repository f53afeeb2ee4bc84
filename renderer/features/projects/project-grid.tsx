import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useDeferredValue, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { Project } from '../../../server/contract/projects.ts'
import { useDeploymentSummary } from '../../api/deployment-summaries.ts'
import { displayUrl, useAppUrls } from '../../api/app-url.ts'
import { deploymentTitle } from '../../components/deployment-line.tsx'
import { ProjectStatusBadges } from '../../components/project-status-badges.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { safeWebUrl } from '../../lib/safe-web-url.ts'
import { Thumbnail } from '../screenshots/index.ts'
import { FavoriteButton } from './favorite-button.tsx'
import type { ProjectListProps } from './project-list.tsx'
import { RequestCourse } from './request-course.tsx'
import styles from './page.module.css'

/** Of a card with the gap below it. */
const rowHeight = 322
const minCardWidth = 272
const gap = 16

/** Cards with large screenshots, virtualized by rows. */
export function ProjectGrid({ projects, favorites, requests, onEndReached }: ProjectListProps) {
  const list = useRef<HTMLUListElement>(null)
  const [columns, setColumns] = useState(1)
  useLayoutEffect(() => {
    const element = list.current
    if (!element) return
    const measure = () => setColumns(Math.max(1, Math.floor((element.clientWidth + gap) / (minCardWidth + gap))))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const addressOf = useAppUrls()
  const rows = Math.ceil(projects.length / columns)
  const virtualizer = useWindowVirtualizer({
    count: rows,
    estimateSize: () => rowHeight,
    overscan: 2,
    scrollMargin: list.current?.offsetTop ?? 0,
  })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  const isScrollSettled = useDeferredValue(!virtualizer.isScrolling)
  useEffect(() => {
    if (last >= rows - 4) onEndReached()
  }, [last, rows, onEndReached])

  return (
    <ul ref={list} className={styles.projectGrid} data-rows style={{ height: virtualizer.getTotalSize() }} aria-label="Projects">
      {items.flatMap((item) =>
        projects.slice(item.index * columns, (item.index + 1) * columns).map((project, column) => (
          <li
            key={project.id}
            aria-setsize={projects.length}
            aria-posinset={item.index * columns + column + 1}
            style={{
              height: rowHeight - gap,
              width: `calc((100% - ${(columns - 1) * gap}px) / ${columns})`,
              left: `calc((100% + ${gap}px) / ${columns} * ${column})`,
              transform: `translateY(${item.start - virtualizer.options.scrollMargin}px)`,
            }}
          >
            <ProjectCard
              project={project}
              address={addressOf(project.slug)}
              requests={requests?.get(project.slug)}
              isFavorite={favorites.includes(project.slug)}
              settled={isScrollSettled && !virtualizer.isScrolling}
            />
          </li>
        )),
      )}
    </ul>
  )
}

interface CardProps {
  project: Project
  address: string | null
  requests: number[] | undefined
  isFavorite: boolean
  settled: boolean
}

function ProjectCard({ project, address, requests, isFavorite, settled }: CardProps) {
  const { latest, serving } = useDeploymentSummary(project.slug, settled)
  const shown = serving ?? latest
  return (
    <div className={`card ${styles.projectCard}`} data-testid="project-card">
      <span className={styles.projectCardImage}>
        {serving?.screenshots.desktop ? (
          <Thumbnail slug={project.slug} deployment={serving} />
        ) : (
          <span className={styles.projectCardInitial} aria-hidden>
            {project.name.slice(0, 1)}
          </span>
        )}
      </span>
      <div className={styles.projectCardBody}>
        <div className={styles.projectCardHead}>
          <Link href={`/projects/${project.slug}`} className={`${styles.projectLink} truncate`} data-testid="project-link">
            {project.name}
          </Link>
          <FavoriteButton project={project} isFavorite={isFavorite} />
        </div>
        {address && (
          <a className={`${styles.projectAddress} mono truncate`} href={safeWebUrl(address)} target="_blank" rel="noreferrer noopener">
            {displayUrl(address)}
          </a>
        )}
        <p className="text-muted truncate">{shown ? deploymentTitle(shown) : shown === null ? 'Not deployed yet' : '\u00a0'}</p>
        <div className={styles.projectCardFoot}>
          <ProjectStatusBadges project={project} serving={serving} latest={latest} />
          <span className="text-subtle">{shown && <RelativeTime at={shown.created_at} />}</span>
          <span className={styles.projectCardRequests}>
            <RequestCourse requests={requests} />
          </span>
        </div>
      </div>
    </div>
  )
}
