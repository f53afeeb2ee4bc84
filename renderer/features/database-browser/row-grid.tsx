import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import type { DatabaseCell, ResultColumn } from '../../../server/contract/database-browser.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { columnWidths, isNumberType, shortCellText } from './cell-text.ts'
import styles from './browser.module.css'

const rowHeight_px = 32

interface Props {
  label: string
  columns: readonly ResultColumn[]
  rows: readonly (readonly DatabaseCell[])[]
  /** `-` before a column: descending. */
  order?: string | null
  onSort?: (column: string) => void
  /** Opens a row, with the column that was clicked. */
  onOpen?: (row: number, column: string) => void
  onEndReached?: () => void
}

/** Rows of any number, of which only the visible ones are in the page. */
export function RowGrid({ label, columns, rows, order = null, onSort, onOpen, onEndReached }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const sample = rows.length > 40 ? 40 : rows.length
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- later rows do not change the widths
  const widths = useMemo(() => columnWidths(columns, rows), [columns, sample])
  const virtualizer = useVirtualizer({ count: rows.length, estimateSize: () => rowHeight_px, getScrollElement: () => frame.current, overscan: 12 })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= rows.length - 60) onEndReached?.()
  }, [last, rows.length, onEndReached])
  // A callback that changes with each render would render every row again.
  const latest = useRef(onOpen)
  useLayoutEffect(() => void (latest.current = onOpen))
  const open = useCallback((row: number, column: string) => latest.current?.(row, column), [])
  const template = { gridTemplateColumns: `${widths.map((width) => `${width}px`).join(' ')} minmax(0, 1fr)` }
  const width = { minWidth: widths.reduce((sum, one) => sum + one, 0) }

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- makes the grid scrollable by keyboard
    <div ref={frame} className={styles.grid} role="region" aria-label={label} tabIndex={0}>
      <div role="table" aria-label={label} aria-rowcount={rows.length + 1} aria-colcount={columns.length} style={width}>
        <div role="rowgroup" className={styles.gridHead}>
          <div role="row" className={styles.gridRow} style={template} aria-rowindex={1}>
            {columns.map(({ name, type }, index) => (
              <div
                key={`${index} ${name}`}
                role="columnheader"
                aria-sort={order === name ? 'ascending' : order === `-${name}` ? 'descending' : undefined}
                className={`${styles.headCell} ${isNumberType(type) ? styles.numberHead : ''}`}
              >
                {onSort ? (
                  <button type="button" className={styles.sort} onClick={() => onSort(name)} title={`${name} ${type}`}>
                    <HeadText name={name} type={type} />
                    {order === name && <ArrowUp size={12} aria-hidden />}
                    {order === `-${name}` && <ArrowDown size={12} aria-hidden />}
                  </button>
                ) : (
                  <span className={styles.sort} title={`${name} ${type}`}>
                    <HeadText name={name} type={type} />
                  </span>
                )}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
          {items.map((item) => (
            <div
              key={item.key}
              role="row"
              aria-rowindex={item.index + 2}
              className={`${styles.gridRow} ${styles.bodyRow}`}
              style={{ ...template, transform: `translateY(${item.start}px)` }}
            >
              <Cells columns={columns} cells={rows[item.index] ?? []} row={item.index} onOpen={onOpen && open} />
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}

interface CellsProps {
  columns: readonly ResultColumn[]
  cells: readonly DatabaseCell[]
  row: number
  onOpen: Props['onOpen'] | undefined
}

/** The cells of a row, which do not render again while the table scrolls. */
const Cells = memo(function Cells({ columns, cells, row, onOpen }: CellsProps) {
  return columns.map(({ name, type }, index) => {
    const cell = cells[index] ?? null
    const text = sanitizeForDisplay(shortCellText(cell, type))
    const look = `${styles.cell} ${cell === null ? styles.none : ''} ${isNumberType(type) ? styles.number : ''}`
    return (
      <div key={`${index} ${name}`} role="cell" className={styles.cellFrame}>
        {onOpen ? (
          <button
            type="button"
            className={look}
            tabIndex={index === 0 ? 0 : -1}
            aria-label={index === 0 ? `Edit row ${row + 1}: ${text}` : undefined}
            onClick={() => onOpen(row, name)}
          >
            {text}
          </button>
        ) : (
          <span className={look}>{text}</span>
        )}
      </div>
    )
  })
})

function HeadText({ name, type }: ResultColumn) {
  return (
    <>
      <span className="truncate">{sanitizeForDisplay(name)}</span> <span className={`truncate ${styles.type}`}>{type}</span>
    </>
  )
}
