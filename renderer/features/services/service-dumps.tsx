import type { ManagedService } from '../../../server/contract/managed-services.ts'
import { dumpedServices } from '../../../server/contract/service-presets.ts'
import { type DumpTarget, useDumps } from '../../api/databases.ts'
import { useProject } from '../../api/projects.ts'
import { Dumps } from '../database/index.ts'

/** SQL dumps of a managed service, while it is added or dumps exist. */
export function ServiceDumps({ slug, service: { name, label, is_added } }: { slug: string; service: ManagedService }) {
  const dumped = dumpedServices.find((one) => one === name)
  return dumped ? <DumpsOf slug={slug} service={{ name: dumped, label }} canRestore={is_added} /> : null
}

function DumpsOf({ slug, service, canRestore }: { slug: string; service: DumpTarget; canRestore: boolean }) {
  const { data: project } = useProject(slug)
  const query = useDumps(slug, true, service.name)
  return project ? <Dumps project={project} service={service} canRestore={canRestore} query={query} /> : null
}
