/** The column `apps` of a project. */
export const parseApps = (json: string): string[] => JSON.parse(json) as string[]
