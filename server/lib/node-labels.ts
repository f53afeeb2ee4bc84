/** The column `node_labels` of a project: labels as `key=value`. */
export const parseNodeLabels = (json: string): string[] => JSON.parse(json) as string[]
