import type { HelpArticle } from '../topic.ts'

export const clusterTopics: HelpArticle[] = [
  {
    id: 'cluster',
    title: 'Several machines: a Docker Swarm cluster',
    summary: 'Apps run on the nodes of a swarm, with one Homeport on one of its managers.',
    keywords:
      'edge load balancer DNS swarm cluster nodes scale out manager worker registry high availability drain cordon join balance quorum HOMEPORT_REGISTRY',
    body: [
      'Homeport runs on one manager of the swarm and starts each replica of an app as a service of the swarm, on different nodes where it can. Its edge sends the requests to the replicas at the private addresses of their nodes, and the other nodes can have an edge too. Choose addresses in a private network that only the nodes use. In these examples the nodes have the addresses 10.0.0.1 to 10.0.0.3 in 10.0.0.0/24, at the interface eth1.',
      { h: 'On every node' },
      {
        steps: [
          'Install Docker (on Debian the package `docker.io`), and write this to `/etc/docker/daemon.json`. Then restart Docker.',
          'Let no container open a connection to the nodes. Without it, an app could reach the ports of other apps. Run it after each start of the machine, for example from a unit of systemd after `docker.service`.',
        ],
      },
      { file: '/etc/docker/daemon.json', text: '{ "no-new-privileges": true, "userland-proxy": false }' },
      { run: 'iptables -I DOCKER-USER ! -i eth1 -d 10.0.0.0/24 -m conntrack --ctstate NEW -j REJECT' },
      { h: 'The first node' },
      'The first command starts the swarm. It also creates the network through which ports are published, at the address of this node: without it, the ports of apps would be open at all its addresses.',
      { run: 'npx homeport node init 10.0.0.1' },
      { run: 'npx homeport serve --runtime swarm' },
      'From the second node on, the nodes pull the images of apps from a registry. Homeport runs one on its node, as a container of the image `registry:2`, at port 5000 of the private address, with TLS and a password. It removes the images of deployments that are gone.',
      'Each other node runs a small agent of Homeport, through which replicas there show their use, are frozen when they sleep and run health checks, and through which images of removed deployments are deleted. It only accepts Homeport, and only for the containers of its apps.',
      { h: 'More nodes' },
      'The first command prints one for the machine that joins. There it lets Docker trust the registry of Homeport, creates that network, and joins the swarm. Three managers keep the swarm working when one is lost. Between the nodes the ports 2377, 7946, 5000 and 7444 (TCP), 7946 and 4789 (UDP) and 20000 to 29999 (TCP, the apps) have to be open; on the first node also 32768 to 60999 (TCP, services with volumes).',
      { run: 'npx homeport node token --manager' },
      { run: 'sudo npx homeport node join 10.0.0.1:2377 --token TOKEN --registry 10.0.0.1:5000@sha256:FINGERPRINT' },
      'A node that joined without `--registry` cannot get images until it trusts the registry:',
      { run: 'sudo npx homeport node trust 10.0.0.1:5000@sha256:FINGERPRINT' },
      { run: 'npx homeport node balance', note: 'spreads the replicas over the new node too' },
      { h: 'An edge on every node' },
      'If Homeport listens at other addresses than loopback, every other node answers visitors too, at the same ports: at all addresses with `--host 0.0.0.0`, and otherwise at the private address of the node. Let your load balancer or DNS name all nodes. Each edge has the routes, static sites, certificates and settings of Homeport, and shares what it caches with the others.',
      { run: 'npx homeport serve --host 0.0.0.0 --edge-port 80 --edge-https-port 443' },
      'While Homeport does not answer, the edges of the other nodes continue, also after a restart, with what they have on their disks. They serve no cached responses then, because they would miss a purge, and they wake no sleeping app. [[/instance/nodes|Instance, Nodes]], `homeport node list` and `homeport doctor` say which edges follow.',
      { h: 'Nodes of different kinds' },
      'A node can have labels, and a project can ask for them. Its replicas then run only on nodes that have all of them, and a deployment fails if there is none. A changed setting applies to the next deployment.',
      { run: 'npx homeport node label NAME disk=ssd zone=a' },
      { run: 'npx homeport projects set my-app node_labels=disk=ssd' },
      { h: 'A registry of your own' },
      'It must be reached by all nodes, with TLS and a password. Sign in to it on the first node, as the user who runs Homeport; the nodes get these credentials with each service. Homeport removes nothing from it.',
      { run: 'docker login registry.example.com' },
      { run: 'HOMEPORT_REGISTRY=registry.example.com/apps npx homeport serve' },
      { h: 'A standby of Homeport' },
      'A second manager of the cluster can keep a copy of the instance, and lead when the first machine is gone. It needs the master key once, and a token of the owner. Start it with the options that `homeport serve` has on the first machine. It connects only to the API of the first machine and to the Docker engine of the second.',
      {
        steps: [
          'On the first node, create a token: `npx homeport tokens create standby`. Copy `master.key` from its data folder to the second machine.',
          'On the second machine, start the standby. The token is read from the environment.',
        ],
      },
      { run: 'HOMEPORT_TOKEN=svc_TOKEN npx homeport standby --of http://10.0.0.1:4600 --key ./master.key --host 0.0.0.0' },
      {
        list: [
          '*What is copied*: everything in the database of the instance, within a second, and uploads, sources and static sites of finished deployments, within ten. If the first machine is lost, changes of the last second can be lost with it. Not copied are logs, metrics, requests, traces, screenshots, backups, databases and volumes: apps that need these work again when a dump or a snapshot has been restored.',
          '*When it leads*: if the first machine has not renewed its lease in the cluster for 16 seconds, and the copy is not older than a minute. `homeport standby promote` on the second machine makes it lead now; an instance that responds stops first. A standby that was started after the first machine was lost leads only so.',
          '*Several standbys*: the first one is named in the cluster and takes over; another is named once that one has not followed for two minutes, or with `standby promote`. Update the standbys before the instance: a standby follows no newer Homeport.',
          '*One leads at a time*: the lease is a record in the swarm itself. An instance that cannot renew it changes nothing after 12 seconds, and the edges of the nodes follow no earlier leader.',
          '*Afterwards*, the first machine becomes the standby: `homeport standby --of URL --data NEW`, with a new folder. Let DNS or your load balancer name the second machine for the dashboard.',
          'Use a registry of your own (above). That of Homeport is lost with its machine: apps continue, but a replica that moves to a node without its image needs a deployment first.',
        ],
      },
      { run: 'npx homeport standby list', note: 'on the first machine: who follows, and how closely' },
      { h: 'What stays on one machine' },
      {
        list: [
          'Builds, databases, services with volumes and one-off commands run on the node of Homeport. They do not move to another one.',
          'While Homeport is down, nothing is deployed, woken or scaled. Apps continue, and the edges of other nodes serve them. The swarm restarts an app that ends, on the same node and at the same port; one on a node that is lost waits for the node or for Homeport.',
          'Apps with other addresses than those of the swarm, such as ones that were deployed before there was one, are served by the node of Homeport alone. Deploy them again.',
        ],
      },
      { h: 'Operations' },
      {
        list: [
          'A node is lost: its replicas are started on other nodes once its machine has not answered for three seconds. If it led the swarm, the others elect a leader first, within about 20 seconds. The log of a replica marks where its last lines may be missing. Replicas do not move back when it returns; `homeport node balance` spreads them again.',
          'Maintenance: `homeport node drain NAME` replaces its replicas on other nodes, each before the old one stops, so that no request fails. `homeport node activate NAME` lets it take new ones; `homeport node cordon NAME` only keeps new ones away.',
          'A machine leaves: drain it, then `homeport node remove NAME`. One that is lost for good can be removed at once.',
          '[[/instance/nodes|Instance, Nodes]] shows each node and its replicas.',
          'An update of Homeport: the edges of the other nodes are replaced one after the other, and each serves until the new one listens. WebSockets through it end five seconds later.',
          'No quorum: running apps continue, and nothing is deployed, woken or repaired until most managers are back.',
          'The registry is down: running apps continue, and a deployment fails with a message that names it. The one of Homeport is restarted by Docker, and made again by the next deployment if it was removed.',
        ],
      },
      { run: 'npx homeport doctor', note: 'checks the nodes and the connections between them, the quorum, the registry and the edges' },
    ],
  },
]
