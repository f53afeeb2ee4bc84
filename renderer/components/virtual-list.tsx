import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { memo, type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import styles from './virtual-list.module.css'

/** The height of a row with one line, in pixels. Higher ones are measured. */
export const virtualRowHeight = 41

interface Props<Item> {
  label: string
  items: readonly Item[]
  getKey: (item: Item) => string
  renderItem: (item: Item) => ReactNode
  /** Whether all items are loaded. */
  isComplete: boolean
  onEndReached: () => void
}

/** Items of any number in the scrolling page, of which only the visible ones are in the document. */
export function VirtualList<Item>(props: Props<Item>) {
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  // Here and not in the rows, which render while the page scrolls: the position is read after a layout.
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0))
  return <Rows {...props} list={list} top={top} />
}

function Rows<Item>({
  label,
  items,
  getKey,
  renderItem,
  isComplete,
  onEndReached,
  list,
  top,
}: Props<Item> & { list: RefObject<HTMLUListElement | null>; top: number }) {
  const virtualizer = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => virtualRowHeight,
    overscan: 10,
    scrollMargin: top,
    getItemKey: (index) => (items[index] === undefined ? index : getKey(items[index])),
  })
  const visible = virtualizer.getVirtualItems()
  const last = visible.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= items.length - 40) onEndReached()
  }, [last, items.length, onEndReached])

  return (
    <ul ref={list} className={styles.list} data-rows style={{ height: virtualizer.getTotalSize() }} aria-label={label}>
      {visible.map(({ key, index, start }) => {
        const item = items[index]
        if (item === undefined) return null
        return (
          <li
            key={key}
            ref={virtualizer.measureElement}
            data-index={index}
            aria-setsize={isComplete ? items.length : -1}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start - virtualizer.options.scrollMargin}px)` }}
          >
            <Content item={item} render={renderItem as (item: unknown) => ReactNode} />
          </li>
        )
      })}
    </ul>
  )
}

/** The content of a row, which does not render again while the page scrolls. */
const Content = memo(function Content({ item, render }: { item: unknown; render: (item: unknown) => ReactNode }) {
  return render(item)
})
