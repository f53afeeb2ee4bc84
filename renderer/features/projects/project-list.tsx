import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { memo, useDeferredValue, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { Project } from '../../../server/contract/projects.ts'
import { useGlance } from '../../api/glances.ts'
import { useOffered } from '../../api/offered.ts'
import { useSparklines } from '../../api/queries.ts'
import { frameworkName } from '../../ui/frameworks.ts'
import { Mark, deploymentSign } from '../../ui/status.tsx'
import { Ago } from '../../ui/time.tsx'
import { webAddress } from '../../ui/web-address.ts'
import { Thumbnail } from '../pictures/thumbnail.tsx'
import { deploymentTitle } from '../deployments/deployment-line.tsx'
import { spoken, useAddresses } from '../project/address.ts'
import { ProjectPlates } from '../project/project-plates.tsx'
import { Sparkline } from './sparkline.tsx'

export const rowHeight = 68

/** Ten thousand projects, of which only those in view exist on the page. */
export function ProjectList({ projects, words, onEnd }: { projects: Project[]; words: string; onEnd: () => void }) {
  const list = useRef<HTMLUListElement>(null)
  const { data: sparklines } = useSparklines(useOffered().instance)
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
  // Rows that fly by, and those of a search that is being typed, show what is at hand; the rest of them comes after that is painted.
  const settledWords = useDeferredValue(words)
  const isAtRest = useDeferredValue(!virtualizer.isScrolling)
  const settled = isAtRest && !virtualizer.isScrolling && settledWords === words

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
            <ProjectRow project={project} address={addressOf(project.slug)} requests={sparklines?.get(project.slug)} settled={settled} />
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

const ProjectRow = memo(function ProjectRow({ project, address, requests, settled }: RowProps) {
  // Rows that only fly by ask for nothing, and have nothing costly to lay out; one that has come to rest keeps what it has.
  const [hasRested, setHasRested] = useState(settled)
  if (settled && !hasRested) setHasRested(true)
  return (
    <div className="project-row">
      <div className="project-name">
        <Link href={`/projects/${project.slug}`} className="project-link clip">
          {project.name}
        </Link>
        {address && (
          <a className="project-address mono clip" href={webAddress(address)} target="_blank" rel="noreferrer noopener">
            {spoken(address)}
          </a>
        )}
      </div>
      {hasRested ? <RestedParts project={project} requests={requests} settled={settled} /> : <span className="project-picture" />}
      <div className="project-status">
        {hasRested ? (
          <RestedPlates project={project} settled={settled} />
        ) : (
          <ProjectPlates project={project} serving={undefined} latest={undefined} />
        )}
        {project.is_cold && project.last_request_at && (
          <span className="faint project-when">
            last visit <Ago at={project.last_request_at} />
          </span>
        )}
      </div>
    </div>
  )
})

function RestedPlates({ project, settled }: Omit<RowProps, 'address' | 'requests'>) {
  return <ProjectPlates project={project} {...useGlance(project.slug, settled)} />
}

function RestedParts({ project, requests, settled }: Omit<RowProps, 'address'>) {
  const { latest, serving } = useGlance(project.slug, settled)
  // The row is about the version that serves, whatever came after it.
  const shown = serving ?? latest
  return (
    <>
      <span className="project-picture">{serving !== undefined && <Thumbnail slug={project.slug} deployment={serving} />}</span>
      <div className="project-latest">
        {shown && (
          <>
            <span className="clip">{deploymentTitle(shown)}</span>
            <span className="faint row project-when">
              <Mark sign={deploymentSign(shown.status)} size={9} label={deploymentSign(shown.status).word} />
              <Ago at={shown.created_at} />
              {shown.branch && <span className="clip">on {shown.branch}</span>}
              {latest && latest.id !== shown.id && latest.target === 'production' && latest.status === 'failed' && (
                <span className="project-failed">then one failed</span>
              )}
            </span>
          </>
        )}
        {shown === null && <span className="faint">No deployment yet</span>}
      </div>
      <Sparkline requests={requests} />
      <div className="project-framework quiet clip">{shown?.framework && frameworkName(shown.framework)}</div>
    </>
  )
}
