import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { triggerLabel } from '../../components/deployment-line.tsx'
import { DeploymentRow, deploymentRowHeight } from '../../components/deployment-rows.tsx'

interface Props {
  slug: string
  deployments: Deployment[]
  /** The total is unknown until the last page is loaded. */
  isComplete: boolean
  onEndReached: () => void
  onRollback: (deployment: Deployment) => void
}

/** A virtualized list of deployments. Row heights depend on their content. */
export function DeploymentList({ slug, deployments, isComplete, onEndReached, onRollback }: Props) {
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  // Content above the list may appear and disappear.
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0))
  const virtualizer = useWindowVirtualizer({
    count: deployments.length,
    estimateSize: () => deploymentRowHeight,
    overscan: 6,
    scrollMargin: top,
    getItemKey: (index) => deployments[index]?.id ?? index,
  })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0

  useEffect(() => {
    // Loads the next page half a viewport ahead, so that steady scrolling does not reach the end.
    if (last >= deployments.length - 50) onEndReached()
  }, [last, deployments.length, onEndReached])

  return (
    <ul ref={list} className="deployment-list" data-rows style={{ height: virtualizer.getTotalSize() }} aria-label="Deployments">
      {items.map((item) => {
        const deployment = deployments[item.index]
        if (!deployment) return null
        return (
          <li
            key={item.key}
            ref={virtualizer.measureElement}
            data-index={item.index}
            aria-setsize={isComplete ? deployments.length : -1}
            aria-posinset={item.index + 1}
            style={{ transform: `translateY(${item.start - virtualizer.options.scrollMargin}px)` }}
          >
            <DeploymentRow slug={slug} deployment={deployment} trigger={triggerLabel(deployment, deployments)} onRollback={onRollback} />
          </li>
        )
      })}
    </ul>
  )
}
