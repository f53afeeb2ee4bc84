import { useEffect } from 'react'
import { useProjects } from '../../api/projects.ts'
import { SelectField } from '../../components/field.tsx'

/** Project selection, on pages without a project. */
export function DomainProjectField({ value, onChange }: { value: string; onChange: (slug: string) => void }) {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage, error } = useProjects()
  const projects = data?.pages.flatMap((page) => page.projects) ?? []
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, error, fetchNextPage])
  return (
    <SelectField label="Project" required value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">Choose a project</option>
      {projects
        .toSorted((a, b) => a.name.localeCompare(b.name))
        .map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name === slug ? name : `${name} (${slug})`}
          </option>
        ))}
    </SelectField>
  )
}
