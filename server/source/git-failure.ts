import type { GitResult } from './run-git.ts'
import { SourceError } from './source.ts'

/** What git says when the fault is not in the branch or the commit; the first that fits is taken. */
const failurePatterns: { pattern: RegExp; message: (host: string) => string; hint: string }[] = [
  {
    pattern: /Could not resolve host|Name or service not known|Temporary failure in name resolution|nodename nor servname|unable to look up/i,
    message: (host) => `The host ${host} could not be found.`,
    hint: 'Check the address, and whether this machine is online.',
  },
  {
    pattern: /certificate|SSL peer|SSL routines|server verification failed|self-signed/i,
    message: (host) => `The certificate of ${host} is not trusted.`,
    hint: 'If the host has a certificate of your own authority, start Homeport with SSL_CERT_FILE naming its file.',
  },
  {
    pattern: /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/i,
    message: (host) => `The ssh key of ${host} is not the one that this machine knows.`,
    hint: 'Connect once with ssh by hand and compare the key, then deploy again.',
  },
  {
    pattern:
      /Authentication failed|could not read (Username|Password)|Invalid username or password|HTTP Basic: Access denied|terminal prompts disabled|returned error: 40[13]|Permission denied \(|Too many authentication failures/i,
    message: (host) => `${host} asks for credentials, or refuses those that it was given.`,
    hint: 'For https put a token into the address (https://TOKEN@host/..); for ssh load a key that may read the repository. The address may also be misspelled: many hosts ask for a password instead of saying so.',
  },
  {
    pattern: /dubious ownership/i,
    message: () => 'The folder of the repository belongs to another user of this machine.',
    hint: 'Give the folder to the user that runs Homeport, or deploy a copy of it.',
  },
  {
    pattern:
      /Repository not found|repository '.*' not found|does not appear to be a git repository|returned error: 404|not found$|not valid: is this a git repository|No such file or directory|project you were looking for could not be found|repository not exported/im,
    message: () => 'There is no git repository at this address, or it may not be seen from here.',
    hint: 'Check the address. A private repository also looks like this when no credentials, or the wrong ones, are given.',
  },
  {
    pattern: /unable to update url base from redirection|returned error: 30\d/i,
    message: (host) => `${host} sends on to another address, which is not followed here.`,
    hint: 'Give the address that it leads to.',
  },
  {
    pattern: /timed out|Operation too slow|Connection timeout/i,
    message: (host) => `${host} did not answer in time.`,
    hint: 'Try again; if it stays so, check the network between this machine and the host.',
  },
  {
    pattern: /Connection refused|Couldn't connect|Could not connect|Failed to connect|Network is unreachable|No route to host|unable to connect/i,
    message: (host) => `No connection to ${host} could be made.`,
    hint: 'Check the address and its port, and whether this machine is online.',
  },
  {
    pattern: /No space left on device/i,
    message: () => 'The disk is full.',
    hint: 'Free some space, then deploy again.',
  },
  {
    pattern: /transport '.*' not allowed|protocol '.*' is not supported/i,
    message: () => 'This kind of address is not allowed.',
    hint: 'Give an https:// or ssh:// address.',
  },
  {
    pattern: /early EOF|RPC failed|hung up unexpectedly|Connection reset|unexpected disconnect|invalid index-pack/i,
    message: (host) => `The connection to ${host} broke while the source was on its way.`,
    hint: 'Try again.',
  },
]

/** A failed fetch in plain words. Never shows what the server sent: it may be somebody's private page. */
export function classifyGitFailure(run: GitResult, host: string): SourceError {
  const name = host || 'this machine'
  if (run.timed_out)
    return new SourceError(
      `Nothing came from ${name} for a minute.`,
      'Try again; if it stays so, check the network between this machine and the host.',
      'timeout',
    )
  const matched = failurePatterns.find(({ pattern }) => pattern.test(run.stderr))
  if (matched)
    return new SourceError(matched.message(name), matched.hint, matched.message(name) === 'The disk is full.' ? 'storage_full' : 'clone_failed')
  return new SourceError('Git could not fetch the source.', 'The log of the step has git’s own words.')
}

/** No credentials that stand in an address may reach a log; `secrets` are masked wherever they stand. */
export function maskCredentials(text: string, secrets: string[]): string {
  let masked = text.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^/@\s'"]+@/gi, '$1***@')
  for (const secret of secrets) if (secret.length > 0) masked = masked.replaceAll(secret, '***')
  return masked
}
