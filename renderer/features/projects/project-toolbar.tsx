import { LayoutGrid, List } from 'lucide-react'
import { IconButton } from '../../components/button.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { useProjectList } from '../../stores/project-list.ts'
import { type ProjectOrder, type ProjectState, projectOrders, projectStates } from './arrange-projects.ts'
import styles from './page.module.css'

interface ProjectFilter {
  order: ProjectOrder
  state: ProjectState | null
}

/** State filter, order, and list or grid. */
export function ProjectToolbar({ order, state, onChange }: ProjectFilter & { onChange: (values: { sort?: string; status?: string }) => void }) {
  const view = useProjectList((store) => store.view)
  const setView = useProjectList((store) => store.setView)
  return (
    <div className={styles.projectsToolbar} role="group" aria-label="Filter and order">
      <FilterSelect label="Status" all="Any status" value={state ?? ''} choices={projectStates} onChange={(status) => onChange({ status })} />
      <select
        className="input select"
        aria-label="Order"
        value={order}
        onChange={({ target }) => onChange({ sort: target.value === 'created' ? '' : target.value })}
      >
        {Object.entries(projectOrders).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <span className={styles.viewToggle}>
        <IconButton icon={List} label="Show as list" pressed={view === 'list'} onClick={() => setView('list')} />
        <IconButton icon={LayoutGrid} label="Show as grid" pressed={view === 'grid'} onClick={() => setView('grid')} />
      </span>
    </div>
  )
}

/** Ignores unknown values from the URL. */
export function parseProjectFilter(params: URLSearchParams): ProjectFilter {
  const order = params.get('sort')
  const state = params.get('status')
  return { order: isKey(projectOrders, order) ? order : 'created', state: isKey(projectStates, state) ? state : null }
}

const isKey = <Names extends object>(names: Names, name: string | null): name is string & keyof Names => name !== null && Object.hasOwn(names, name)
