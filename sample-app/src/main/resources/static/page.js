'use strict';

const METER = 'rdma.rpc.client.calls';
const HISTORY = 120;
const history = [];
const before = new Map();
const heat = [];
let countsBefore = null;

const byId = (id) => document.getElementById(id);
const number = (value) => Math.round(value).toLocaleString('en');
const micros = (seconds) => (seconds === undefined) ? '–'
  : (seconds >= 0.01) ? (seconds * 1e3).toFixed(1) + ' ms' : (seconds * 1e6).toFixed(0) + ' µs';
const bytes = (value) => (value >= 1 << 20) ? (value / (1 << 20)).toFixed(1) + ' MB' : (value / 1024).toFixed(1) + ' KB';

async function read(path) {
  const response = await fetch('actuator/' + path, { cache: 'no-store' });
  if (response.status === 404) {
    return null;
  }
  if (!response.ok) {
    throw new Error(path + ': ' + response.status);
  }
  return response.json();
}

const statistic = (metric, name) => metric?.measurements.find((m) => m.statistic === name)?.value;
const values = (metric, tag) => metric?.availableTags.find((t) => t.tag === tag)?.values ?? [];

async function readMethod(method) {
  const tag = '?tag=method:' + encodeURIComponent(method);
  const [all, p50, p99] = await Promise.all([read(`metrics/${METER}${tag}`),
    read(`metrics/${METER}.percentile${tag}&tag=status:OK&tag=phi:0.5`),
    read(`metrics/${METER}.percentile${tag}&tag=status:OK&tag=phi:0.99`)]);
  const now = performance.now();
  const calls = statistic(all, 'COUNT') ?? 0;
  const last = before.get(method);
  before.set(method, { calls, now });
  return {
    method, calls,
    rate: last ? Math.max(0, calls - last.calls) * 1000 / (now - last.now) : 0,
    p50: statistic(p50, 'VALUE'), p99: statistic(p99, 'VALUE'), max: statistic(all, 'MAX')
  };
}

async function countFailed(statuses) {
  const failed = await Promise.all(statuses.filter((status) => status !== 'OK' && status !== 'none')
    .map((status) => read(`metrics/${METER}?tag=status:${status}`)));
  return failed.reduce((sum, metric) => sum + (statistic(metric, 'COUNT') ?? 0), 0);
}

function row(cells, wide) {
  const tr = document.createElement('tr');
  cells.forEach((cell, i) => {
    const td = tr.appendChild(document.createElement('td'));
    td.textContent = cell;
    td.className = wide.includes(i) ? 'wide' : '';
  });
  return tr;
}

function list(id, entries) {
  byId(id).replaceChildren(...entries.flatMap(([term, text, color]) => {
    const dt = document.createElement('dt');
    const dd = document.createElement('dd');
    if (color) {
      const key = dt.appendChild(document.createElement('span'));
      key.className = 'key';
      key.style.background = `var(--${color})`;
    }
    dt.append(term);
    dd.textContent = text;
    return [dt, dd];
  }));
}

function showMemory(memory, loops, values, size) {
  const receives = (name) => loops.reduce((sum, loop) => sum + loop.receives[name], 0);
  const width = (id, part) => byId(id).style.width = 100 * part / memory.max + '%';
  width('allocated', memory.allocated);
  width('cached', memory.cached);
  width('registered', Math.max(0, memory.registered - memory.allocated - memory.cached));
  list('memory', [['in use', `${bytes(memory.allocated)} in ${number(memory.buffers)} buffers, posted receives included`, 'accent'],
    ['cached', bytes(memory.cached), 'soft'], ['registered', `${bytes(memory.registered)} of at most ${bytes(memory.max)}`, 'line'],
    ['receives', `${number(receives('posted'))} posted, ${number(receives('promised'))} promised, ${bytes(receives('memory'))}`],
    ['extents', number(memory.extents)], ['waits, failures', `${number(memory.waits)}, ${number(memory.failures)}`],
    ...(values ? [['large values', `${number(statistic(values, 'VALUE'))}, ${bytes(statistic(size, 'VALUE'))}, where they were received`]] : [])]);
}

function showConnections(rdma) {
  const loops = rdma.loops.map((loop) => [loop.name,
    `${loop.channels.length} queue pair${loop.channels.length === 1 ? '' : 's'}, ${bytes(loop.sentBytes)} sent, `
    + `${bytes(loop.receivedBytes)} received, ${bytes(loop.readBytes)} read, ${(loop.completions / Math.max(1, loop.polls)).toFixed(1)} completions per poll`]);
  const clients = rdma.clients.map((client) => [client.target, `${client.state}, over ${rdma.provider.name}, ${client.pool.open} queue pair${client.pool.open === 1 ? '' : 's'} `
    + `of ${client.pool.min} to ${client.pool.max}, ${number(client.pool.losses)} lost, ${number(client.pool.repetitions)} calls repeated`
    + (client.lastFailure ? ': ' + client.lastFailure : '')]);
  const server = rdma.server ? [['server', `${rdma.server.address ?? 'not listening'}, ${rdma.server.activeCalls} calls active`]] : [];
  list('connections', [...server, ...clients, ...loops]);
}

function draw() {
  const canvas = byId('chart');
  const pen = canvas.getContext('2d');
  const style = getComputedStyle(document.documentElement);
  const top = Math.max(10, ...history) * 1.15;
  const x = (i) => canvas.width * (HISTORY - history.length + i) / (HISTORY - 1);
  const y = (value) => canvas.height * (1 - value / top);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.font = '18px system-ui, sans-serif';
  pen.fillStyle = style.getPropertyValue('--dim');
  pen.strokeStyle = style.getPropertyValue('--line');
  [0.25, 0.5, 0.75].forEach((part) => {
    pen.beginPath();
    pen.moveTo(0, y(top * part));
    pen.lineTo(canvas.width, y(top * part));
    pen.stroke();
    pen.fillText(number(top * part), 8, y(top * part) - 6);
  });
  if (history.length > 1) {
    pen.beginPath();
    history.forEach((value, i) => pen.lineTo(x(i), y(value)));
    pen.lineWidth = 3;
    pen.strokeStyle = style.getPropertyValue('--accent');
    pen.stroke();
    pen.lineWidth = 1;
  }
}

function rememberLatencies(latencies) {
  if (latencies === null) {
    return;
  }
  if (countsBefore !== null) {
    const counts = latencies.counts.map((count, i) => Math.max(0, count - countsBefore[i]));
    heat.push({ counts });
    heat.splice(0, heat.length - HISTORY);
  }
  countsBefore = latencies.counts;
  drawHeat(latencies.fromMicros);
}

function drawHeat(bounds) {
  const canvas = byId('heat');
  const pen = canvas.getContext('2d');
  const style = getComputedStyle(document.documentElement);
  const used = bounds.map((bound, i) => heat.some((second) => second.counts[i] > 0));
  const low = Math.max(0, used.indexOf(true) - 1);
  const high = Math.max(low + 8, used.lastIndexOf(true) + 2);
  const width = canvas.width / HISTORY;
  const height = canvas.height / (high - low);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = style.getPropertyValue('--accent');
  heat.forEach((second, i) => {
    const most = Math.max(1, ...second.counts);
    for (let bucket = low; bucket < high; bucket++) {
      const share = (second.counts[bucket] ?? 0) / most;
      if (share > 0) {
        pen.globalAlpha = 0.1 + 0.9 * share;
        pen.fillRect(canvas.width - (heat.length - i) * width, canvas.height - (bucket - low + 1) * height, width + 0.5, height);
      }
    }
  });
  pen.globalAlpha = 1;
  pen.font = '18px system-ui, sans-serif';
  pen.fillStyle = style.getPropertyValue('--ink');
  for (let bucket = low + (low % 2); bucket < high; bucket += Math.max(2, 2 * Math.round((high - low) / 12))) {
    if (bounds[bucket] !== undefined && (high - bucket) * height > 24) {
      pen.fillText(micros(bounds[bucket] / 1e6), 8, canvas.height - (bucket - low) * height - 4);
    }
  }
}

function showPairs(pairs, rail) {
  if (pairs.length > 0) {
    byId('pairs').replaceChildren(...pairs.map((pair) => row([pair.number, pair.role, rail, pair.peer ?? '–', pair.state,
      number(pair.outstandingCalls), number(pair.sendCredits)], [3, 6])));
  }
}

function showPriorities(latencies) {
  const all = Object.values(latencies?.byPriority ?? {}).reduce((sum, calls) => sum + calls, 0);
  if (all > 0) {
    const now = performance.now();
    byId('priorities').replaceChildren(...Object.entries(latencies.byPriority).map(([priority, calls]) => {
      const last = before.get('priority ' + priority);
      before.set('priority ' + priority, { calls, now });
      const rate = last ? Math.max(0, calls - last.calls) * 1000 / (now - last.now) : 0;
      return row([priority, number(calls), number(rate), (100 * calls / all).toFixed(1) + ' %'], [3]);
    }));
  }
}

async function refresh() {
  try {
    const [rdma, pairs, calls, largeValues, largeBytes, latencies] = await Promise.all([read('rdma'), read('rdma/queue-pairs'),
      read('metrics/' + METER), read('metrics/store.large.values'), read('metrics/store.large.bytes'), read('../latencies')]);
    byId('provider').className = '';
    byId('provider').textContent = `Provider ${rdma.provider.name}, device ${rdma.device}: ${rdma.provider.reason.split('; not ')[0]}`;
    showMemory(rdma.memory, rdma.loops, largeValues, largeBytes);
    showConnections(rdma);
    showPairs(pairs.queuePairs, `${rdma.provider.name}: ${rdma.device}`);
    showPriorities(latencies);
    rememberLatencies(latencies);
    const methods = await Promise.all(values(calls, 'method').map(readMethod));
    const rate = methods.reduce((sum, method) => sum + method.rate, 0);
    history.push(rate);
    history.splice(0, history.length - HISTORY);
    draw();
    if (methods.length > 0) {
      methods.sort((a, b) => b.calls - a.calls);
      byId('rate').textContent = number(rate);
      byId('p50').textContent = micros(methods[0].p50);
      byId('p99').textContent = micros(methods[0].p99);
      byId('failed').textContent = number(await countFailed(values(calls, 'status')));
      byId('methods').replaceChildren(...methods.map((m) => row([m.method, number(m.calls), number(m.rate), micros(m.p50),
        micros(m.p99), micros(m.max)], [1, 5])));
    }
  } catch (error) {
    byId('provider').className = 'error';
    byId('provider').textContent = 'The application does not answer: ' + error.message;
  }
  setTimeout(refresh, 1000);
}

refresh();
