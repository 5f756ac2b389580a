// @ts-check
/** What texts may hold. Written by `python -m deniable.web.page.respondent_page`, not by hand. */

export const TABLE = {
"alphabets": "1tA 38- 5A e7- 13A c- 3oB 4- 2B 30C eB gD 8hE 4fF 28G w- 1G 5rH 1sG 1c 22 1i 1s wH gG 44I 3g 3p 3k 3k 3i 3m 3f 3o 3l 3g. 73 74. 4gJ 2o. 74K bkL 2pM hs v 2o w w w w. 4g 40M 28 28 1c 3k w 6d 3i 1p 1s 2i 12D gJ 2h- nA 12B 5D 1A 1dB 5A 4B 5A dD 1A 1yB 1tA 74B a9A 41- 266 2oA wC 3kJ 1c 28K 4v- d2. 1- 1h. 1- 5. 57- 1. lxf y8N 1c 8wD 2oO 3b- bA 2u- 3A 39 1s 1u 34I o 12 1c. 10 23- h. w 2o. w 2oP xK 1bA 1hB 1A aL 28P 1s. flsA jE aF 1fG r5A 1x. a- 1. 19- 2. 2o hs w 2o 1c w 1c w 2o 28 1c 1c 28 1c 1s 28 1s aoA 3k 1s w w 2o w w w- 1s w 2o 2o w 1s 1s 1s w w 3k 3k 3k 22 8m 1uG 1q 1c 1s 1s 1c z 3k 25 1f 25 1f 3h 3k 1c 2d 3f 3k 3k 74 3k 3k 3k 74 4g 2o 4g 2o 28 2oM g 74 1s 36 3y 2o 28- 8g y 4uN 28 32o 34 3y8 5q8 1dsO g0 1c 2o 1c g0 74 2o- 2o 68Q 1R 2. tQ 5c0 e8Q 6wg. aoR 234 4qo- 268A 8gD 5s b4 1c eo 74 6o- 80K w 74 zkG 3k0.",
"hidden": [[847,847],[4447,4448],[6068,6069],[6155,6157],[6159,6159],[8232,8233],[10240,10240],[12644,12644],[65024,65037],[65440,65440],[65532,65532],[69759,69759],[78913,78914],[94180,94180],[119129,119129]],
"joining": [[1536,2303],[2304,3583],[4096,4255],[6016,6143],[6144,6319]],
"emoji": [[169,169],[174,174],[8252,8252],[8265,8265],[8419,8419],[8448,11263],[12336,12336],[12349,12349],[12951,12951],[12953,12953],[65039,65039],[126976,129791]],
"ideographs": [[13312,40959],[63744,64255],[131072,262143]],
"tags": [[917536,917631],[127988,127988]],
"alike": "АAВBЕEЅSІIЈJКKМMНHОOРPСCТTУYХXԌGԚQԜWаaвbеeѕsіiјjкkмmнhоoрpсcтtуyхxһhԁdԛqԝwΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXαaγyιiκkνvοoρpτtυuχxϲcϳjӀIӏlѴVѵvҮYүy‐-‒-–-—-―-−-օoսuՍUՕOՏSԼLհhոnգqցgյjզqᎠDᎡRᎢTᎪAᎫJᎬEᎳWᎷMᎻHᎽYᏀGᏃZᏎ4ᏒRᏙVᏚSᏞLᏟCᏢPᏦKᎾOᏴBᎩYꓐBꓑPꓓDꓔTꓖGꓗKꓙJꓚCꓜZꓝFꓟMꓠNꓡLꓢSꓣRꓦVꓧHꓪWꓫXꓬYꓮAꓰEꓲIꓳOꓴUⲀAⲂBⲈEⲎHⲒIⲔKⲘMⲚNⲞOⲢPⲤCⲦTⲨYⲬXⲁaⲉeⲓiⲕkⲟoⲣpⲥcⲩyⲭxıiɑaɡgℓlဝoɩiͿJꙆl"
};
