import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import type { Project } from '../../../server/contract/projects.ts'
import type { Connection } from '../../stores/connection.ts'
import { projectSign } from '../../ui/status.tsx'
import { TextField } from '../../ui/field.tsx'

/** Where it goes: the instance, by name and colour, and the project there. */
export function TargetFields({
  targets,
  to,
  onTo,
  slug,
  onSlug,
  found,
}: {
  targets: Connection[]
  to: Connection
  onTo: (id: string) => void
  slug: string
  onSlug: (slug: string) => void
  /** Undefined as long as nobody knows; null: it would be a new one. */
  found: Project | null | undefined
}) {
  const id = useId()
  const { data: projects } = useQuery(
    {
      queryKey: ['promote-projects'],
      queryFn: async ({ signal }) => (await to.client.call('listProjects', { query: { limit: '100' }, signal })).projects,
      gcTime: 0,
    },
    to.cache,
  )
  return (
    <>
      <fieldset className="promote-targets">
        <legend>Instance</legend>
        {targets.map((one) => (
          <label key={one.id} className="promote-target" style={{ '--hue': one.hue } as React.CSSProperties}>
            <input type="radio" name={`${id}-to`} checked={one.id === to.id} disabled={!one.is_signed_in} onChange={() => onTo(one.id)} />
            <span className="promote-colour" aria-hidden />
            <span className="clip">
              <strong>{one.name}</strong> <span className="faint">{one.is_signed_in ? one.origin : 'It asks for a token first.'}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <TextField
        label="Project there"
        mono
        required
        value={slug}
        list={`${id}-projects`}
        onChange={({ target }) => onSlug(target.value)}
        hint={
          found === undefined
            ? 'A slug: of a project that is there, or of a new one.'
            : found === null
              ? 'There is none of this slug: a new project is made.'
              : `${found.name} is there already (${projectSign(found).word.toLowerCase()}): it gets a new deployment.`
        }
      />
      <datalist id={`${id}-projects`}>
        {projects?.map((project) => (
          <option key={project.id} value={project.slug}>
            {project.name}
          </option>
        ))}
      </datalist>
    </>
  )
}
