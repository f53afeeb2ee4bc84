import type { DeploymentContext } from './context.ts'

/** Runs work on the data of an environment sequentially. Deployments of the environment wait until it has ended. */
export async function changeData<T>(
  { dataChanges }: Pick<DeploymentContext, 'dataChanges'>,
  environmentId: string,
  work: () => Promise<T>,
): Promise<T> {
  const previous = dataChanges.get(environmentId) ?? Promise.resolve()
  const current = previous.then(work, work)
  const settled = current.then(
    () => {},
    () => {},
  )
  dataChanges.set(environmentId, settled)
  try {
    return await current
  } finally {
    if (dataChanges.get(environmentId) === settled) dataChanges.delete(environmentId)
  }
}
