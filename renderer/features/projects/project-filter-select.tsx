import { useProjects } from '../../api/projects.ts'
import { FilterSelect } from '../../components/filter-select.tsx'

/** A filter by the slug of a project. */
export function ProjectFilterSelect({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { data } = useProjects()
  const names = Object.fromEntries((data?.pages.flatMap((page) => page.projects) ?? []).map(({ slug, name }) => [slug, name]))
  return (
    <FilterSelect
      label="Project"
      all="All projects"
      value={value}
      choices={value === '' ? names : { [value]: value, ...names }}
      onChange={onChange}
    />
  )
}
