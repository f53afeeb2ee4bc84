import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { Deployment } from '../../../server/contract/deployments.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useLatest, useServing, useSparklines } from '../../api/queries.ts'
import { firstLine } from '../../ui/format.ts'
import { frameworkName } from '../../ui/frameworks.ts'
import { Mark, StatusPlate, deploymentSign, projectSign } from '../../ui/status.tsx'
import { Ago } from '../../ui/time.tsx'
import { Thumbnail } from '../pictures/thumbnail.tsx'
import { spoken, useAddresses } from '../project/address.ts'
import { Sparkline } from './sparkline.tsx'

export const rowHeight = 68

/** Ten thousand projects, of which only those in view exist on the page. */
export function ProjectList({ projects, onEnd }: { projects: Project[]; onEnd: () => void }) {
  const list = useRef<HTMLUListElement>(null)
  const { data: sparklines } = useSparklines()
  const addressOf = useAddresses()
  const virtualizer = useWindowVirtualizer({
    count: projects.length,
    estimateSize: () => rowHeight,
    overscan: 6,
    scrollMargin: list.current?.offsetTop ?? 0,
    getItemKey: (index) => projects[index]?.id ?? index,
  })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0

  useEffect(() => {
    if (last >= projects.length - 20) onEnd()
  }, [last, projects.length, onEnd])

  return (
    <ul ref={list} className="project-list" data-rows style={{ height: virtualizer.getTotalSize() }} aria-label="Projects">
      {items.map((item) => {
        const project = projects[item.index]
        if (!project) return null
        return (
          <li
            key={item.key}
            aria-setsize={projects.length}
            aria-posinset={item.index + 1}
            style={{ height: rowHeight, transform: `translateY(${item.start - virtualizer.options.scrollMargin}px)` }}
          >
            <ProjectRow
              project={project}
              address={addressOf(project.slug)}
              requests={sparklines?.get(project.slug)}
              settled={!virtualizer.isScrolling}
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
  /** Of 24 hours, by hour. */
  requests: number[] | undefined
  settled: boolean
}

function ProjectRow({ project, address, requests, settled }: RowProps) {
  // Rows that only fly by ask for nothing.
  const { data: latest } = useLatest(project.slug, settled)
  // Nor do they have a picture; one that has come to rest keeps it.
  const [hasRested, setHasRested] = useState(settled)
  if (settled && !hasRested) setHasRested(true)
  const sign = projectSign(project)
  return (
    <div className="project-row">
      <span className="project-picture">
        {hasRested && latest !== undefined && <ServingPicture slug={project.slug} latest={latest} settled={settled} />}
      </span>
      <div className="project-name">
        <Link href={`/projects/${project.slug}`} className="project-link clip">
          {project.name}
        </Link>
        {address && (
          <a className="project-address mono clip" href={address} target="_blank" rel="noreferrer noopener">
            {spoken(address)}
          </a>
        )}
      </div>
      <div className="project-latest">
        {latest && (
          <>
            <span className="clip">
              {latest.commit_message ? firstLine(latest.commit_message) : latest.source === 'git' ? 'Deployment' : 'Working folder'}
            </span>
            <span className="faint row project-when">
              <Mark sign={deploymentSign(latest.status)} size={9} label={deploymentSign(latest.status).word} />
              <Ago at={latest.created_at} />
              {latest.branch && <span className="clip">on {latest.branch}</span>}
            </span>
          </>
        )}
        {latest === null && <span className="faint">No deployment yet</span>}
      </div>
      <Sparkline requests={requests} />
      <div className="project-framework quiet clip">{latest?.framework && frameworkName(latest.framework)}</div>
      <div className="project-status">
        <StatusPlate sign={sign} />
        {project.is_cold && project.last_request_at && (
          <span className="faint project-when">
            last visit <Ago at={project.last_request_at} />
          </span>
        )}
      </div>
    </div>
  )
}

/** Of what serves; mostly that is the newest, which is at hand. */
function ServingPicture({ slug, latest, settled }: { slug: string; latest: Deployment | null; settled: boolean }) {
  const isServing = latest?.target === 'production' && latest.is_current
  const { data: serving } = useServing(slug, settled && latest !== null && !isServing)
  return <Thumbnail slug={slug} deployment={isServing ? latest : serving} />
}
