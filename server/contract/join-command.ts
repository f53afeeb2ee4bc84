import type { JoinToken } from './nodes.ts'

/** What is run on a machine that joins the cluster. A registry of Homeport is trusted by a file that only root can write. */
export const formatJoinCommand = ({ address, token, registry }: JoinToken): string =>
  `${registry === null ? '' : 'sudo '}npx homeport node join ${address} --token ${token}${registry === null ? '' : ` --registry ${registry}`}`
