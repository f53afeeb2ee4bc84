import type { GitResult } from './run-git.ts'
import { SourceError } from './source.ts'

/** Messages of git that are not about the branch or the commit; the first match is used. */
const failurePatterns: { pattern: RegExp; message: (host: string) => string; hint: string }[] = [
  {
    pattern: /Could not resolve host|Name or service not known|Temporary failure in name resolution|nodename nor servname|unable to look up/i,
    message: (host) => `The host ${host} could not be resolved.`,
    hint: 'Check the address and that this machine is online.',
  },
  {
    pattern: /certificate|SSL peer|SSL routines|server verification failed|self-signed/i,
    message: (host) => `The TLS certificate of ${host} is not trusted.`,
    hint: 'If the host uses your own certificate authority, set SSL_CERT_FILE to its certificate and restart Homeport.',
  },
  {
    pattern: /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/i,
    message: (host) => `The SSH host key of ${host} does not match the key that this machine knows.`,
    hint: 'Connect once with ssh to verify and accept the key, then deploy again.',
  },
  {
    pattern:
      /Authentication failed|could not read (Username|Password)|Invalid username or password|HTTP Basic: Access denied|terminal prompts disabled|returned error: 40[13]|Permission denied \(|Too many authentication failures/i,
    message: (host) => `${host} requires credentials or rejected the ones it received.`,
    hint: 'For https, add a token to the address (https://TOKEN@host/..). For ssh, load a key with read access. Also check the address, because many hosts ask for credentials when a repository does not exist.',
  },
  {
    pattern: /dubious ownership/i,
    message: () => 'The folder of the repository belongs to another user of this machine.',
    hint: 'Change the owner of the folder to the user that runs Homeport, or deploy a copy.',
  },
  {
    pattern:
      /Repository not found|repository '.*' not found|does not appear to be a git repository|returned error: 404|not found$|not valid: is this a git repository|No such file or directory|project you were looking for could not be found|repository not exported/im,
    message: () => 'The repository does not exist at this address, or access to it was denied.',
    hint: 'Check the address. For a private repository, also check the credentials.',
  },
  {
    pattern: /unable to update url base from redirection|returned error: 30\d/i,
    message: (host) => `${host} redirects to another address. Homeport does not follow redirects.`,
    hint: 'Use the address of the redirect.',
  },
  {
    pattern: /timed out|Operation too slow|Connection timeout/i,
    message: (host) => `${host} did not answer in time.`,
    hint: 'Deploy again. If it keeps failing, check the network between this machine and the host.',
  },
  {
    pattern: /Connection refused|Couldn't connect|Could not connect|Failed to connect|Network is unreachable|No route to host|unable to connect/i,
    message: (host) => `Could not connect to ${host}.`,
    hint: 'Check the address, its port and that this machine is online.',
  },
  {
    pattern: /No space left on device/i,
    message: () => 'The disk is full.',
    hint: 'Free up space, then deploy again.',
  },
  {
    pattern: /transport '.*' not allowed|protocol '.*' is not supported/i,
    message: () => 'This type of address is not allowed.',
    hint: 'Use an https:// or ssh:// address.',
  },
  {
    pattern: /early EOF|RPC failed|hung up unexpectedly|Connection reset|unexpected disconnect|invalid index-pack/i,
    message: (host) => `The connection to ${host} was lost while the source was being fetched.`,
    hint: 'Try again.',
  },
]

/** Explains a failed fetch. Never quotes the server's response, because it may be a private page. */
export function classifyGitFailure(run: GitResult, host: string): SourceError {
  const name = host || 'this machine'
  if (run.timed_out)
    return new SourceError(
      `Received no data from ${name} for 60 s.`,
      'Deploy again. If it keeps failing, check the network between this machine and the host.',
      'timeout',
    )
  const matched = failurePatterns.find(({ pattern }) => pattern.test(run.stderr))
  if (matched)
    return new SourceError(matched.message(name), matched.hint, matched.message(name) === 'The disk is full.' ? 'storage_full' : 'clone_failed')
  return new SourceError('Git could not fetch the source.', 'See the log of this step for the output of git.')
}

/** Masks the credentials in addresses, and `secrets` anywhere in the text. */
export function maskCredentials(text: string, secrets: string[]): string {
  let masked = text.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^/@\s'"]+@/gi, '$1***@')
  for (const secret of secrets) if (secret.length > 0) masked = masked.replaceAll(secret, '***')
  return masked
}
